package prompts

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/cupel-dev/cupel/engine/step"
)

// anvilMargin is what the context cap leaves free besides the output, in
// tokens.
const anvilMargin = 1024

// anvilBuilder reproduces the capacity prompts of another tool byte for byte:
// anvil/s those of its version 0.35, anvil/n those of its next one, which added
// markers, response words and unique prompts.
type anvilBuilder struct {
	id     string
	seed   int64
	canary bool
	unique bool
	prefix string
	plan   plan
	limit  int // tokens, 0 = none
	words  []string
}

func newAnvil(c Cell) (*anvilBuilder, error) {
	b := &anvilBuilder{id: c.Prompt.Builder, seed: c.Seed, canary: c.Prompt.Canary, unique: c.Prompt.Cache != "shared"}
	if c.Prompt.Lengths != nil {
		b.seed = c.Prompt.Lengths.Seed
	}
	var err error
	if b.limit, err = anvilCap(c.ContextLimit, c.MaxTokens); err != nil {
		return nil, err
	}
	if b.plan, err = c.plan(); err != nil {
		return nil, err
	}
	if err := c.checkAnvil(b.limit); err != nil {
		return nil, fmt.Errorf("%s: %w", b.id, err)
	}
	if n := c.Prompt.SharedTokens; n > 0 && !b.unique {
		b.prefix = string(appendHelpers(nil, 0, chars3(n)))
	}
	b.words = slices.Repeat([]string{anvilWord}, c.Output.Words)
	return b, nil
}

// anvilCap returns the longest prompt that leaves room for the output and the
// margin, 0 = the context is not known.
func anvilCap(context, output int) (int, error) {
	if context == 0 {
		return 0, nil
	}
	if room := context - output - anvilMargin; room > 0 {
		return room, nil
	}
	return 0, step.WithHint(fmt.Errorf("a context of %d tokens has no room for a prompt beside %d of output and a margin of %d", context, output, anvilMargin), "lower sampling.maxTokens, or serve a longer context")
}

func chars3(tokens int) int { return int(float64(tokens) * NominalCharsPerToken) }

func (b *anvilBuilder) ID() string { return b.id }

func (b *anvilBuilder) Build(index int) (Prompt, error) {
	if err := indexed(index); err != nil {
		return Prompt{}, err
	}
	p := Prompt{Builder: b.id, AskedTokens: b.plan.at(index), Words: b.words}
	if b.limit > 0 {
		p.AskedTokens = min(p.AskedTokens, b.limit)
	}
	if b.canary {
		p.Marker = fmt.Sprintf("ANVIL_REQ_%d_%05d", b.seed, index)
	}
	tail, prefix, budget := b.tail(index, p.Marker), b.head(index, p.Marker), chars3(p.AskedTokens)
	if budget <= len(tail) {
		return Prompt{}, fmt.Errorf("%s: prompt %d: %d tokens have no room for the %d characters of the request itself", b.id, index, p.AskedTokens, len(tail))
	}
	if room := budget - len(prefix) - len(tail) - 1; room > 0 {
		text := append(make([]byte, 0, budget+len(helper)), prefix...)
		text = appendHelpers(append(text, '\n'), index, room)
		p.Text = string(append(text, tail...))
	} else {
		p.Text = prefix[:min(len(prefix), budget-len(tail))] + tail
	}
	p.Length = countWords(p.Text)
	return p, nil
}

func (b *anvilBuilder) head(index int, marker string) string {
	switch {
	case !b.unique || b.id == AnvilS:
		return b.prefix
	case marker == "":
		marker = strconv.Itoa(index)
	}
	return "# unique benchmark request " + marker + "\n" + b.prefix
}

func (b *anvilBuilder) tail(index int, marker string) string {
	t := "\n# request " + strconv.Itoa(index) + ":"
	if marker != "" {
		t += " Begin with the exact marker " + marker + ", followed by one space."
	}
	switch {
	case len(b.words) > 0:
		return t + " Then emit exactly " + strconv.Itoa(len(b.words)) + " repetitions of the lowercase word code, separated by single spaces. Do not add other text and do not stop early."
	case marker != "":
		return t + " Summarize the above in one line."
	}
	return t + " summarize the above in one line."
}

// helper is the longest filler line that there is.
const helper = "def helper_1234567():\n    return compute(1234567)  # routine specialist context\n"

// appendHelpers appends exactly n bytes of filler lines, which are numbered
// from offset and from 0.
func appendHelpers(dst []byte, offset, n int) []byte {
	end := len(dst) + n
	for i := 0; len(dst) < end; i++ {
		dst = append(dst, "def helper_"...)
		dst = strconv.AppendInt(dst, int64(offset+i), 10)
		dst = append(dst, "():\n    return compute("...)
		dst = strconv.AppendInt(dst, int64(i), 10)
		dst = append(dst, ")  # routine specialist context\n"...)
	}
	return dst[:end]
}

// checkAnvil holds a cell to the bounds of the tool.
func (c *Cell) checkAnvil(limit int) error {
	p := c.Prompt
	switch {
	case p.Template != "":
		return step.WithHint(errors.New("the prompt has a template, and this builder has its own"), "leave prompt.template out")
	case p.Calibrate == "endpoint" || c.CharsPerToken != 0 && c.CharsPerToken != NominalCharsPerToken:
		return step.WithHint(errors.New("the length is fixed at 3 characters a token and cannot be calibrated"), "leave prompt.calibrate out, or use cupel/words-v1")
	case p.Builder == AnvilS && p.Cache != "shared" && p.SharedTokens > 0:
		return step.WithHint(errors.New("this version of the tool cannot make a shared prefix unique"), "set prompt.cache to shared, or drop prompt.sharedTokens")
	case p.Builder == AnvilS && (p.Canary || c.Output.Words > 0):
		return step.WithHint(errors.New("this version of the tool has neither canaries nor output words"), "use anvil/n")
	case c.Output.Policy == "strict" && c.Output.Words == 0:
		return step.WithHint(errors.New("a strict output needs words to ask for"), "set output.words, or output.policy to observe")
	case p.Canary && c.MaxTokens != 0 && c.MaxTokens < 16:
		return step.WithHint(fmt.Errorf("a canary does not fit into %d output tokens: 16 are the least", c.MaxTokens), "raise sampling.maxTokens, or drop prompt.canary")
	case p.Tokens == 0 && p.Lengths == nil && c.Lengths == nil:
		return step.WithHint(errors.New("the prompt has no length"), "set prompt.tokens, 32 or more, or prompt.lengths")
	}
	return errors.Join(
		within("requests", c.Requests, 1, 10000),
		within("concurrency", c.Concurrency, 0, 256), // 0: an open loop, which the tool lacks
		within("prompt.sharedTokens", p.SharedTokens, 0, 262144),
		either(p.Tokens == 0, within("prompt.tokens", p.Tokens, 32, 1048576)),
		either(c.MaxTokens == 0, within("output tokens", c.MaxTokens, 1, 65536)),
		within("output.words", c.Output.Words, 0, 65536),
		within("the candidate's context", c.ContextLimit, 0, 1048576),
		c.checkTotal(limit),
	)
}

// maxAnvilTotal is the largest number of prompt tokens of one cell.
const maxAnvilTotal = 67108864

func (c *Cell) checkTotal(limit int) error {
	planned := c.Prompt.Tokens
	if planned == 0 {
		planned = agentic[len(agentic)-1].tokens
		if limit > 0 {
			planned = min(planned, limit)
		}
	}
	if total := c.Requests * planned; total > maxAnvilTotal {
		return fmt.Errorf("%d requests of up to %d tokens are %d prompt tokens: %d are the most", c.Requests, planned, total, maxAnvilTotal)
	}
	return nil
}

func within(what string, n, low, high int) error {
	if n < low || n > high {
		return fmt.Errorf("%s of %d is out of bounds: %d to %d", what, n, low, high)
	}
	return nil
}

func either(fine bool, err error) error {
	if fine {
		return nil
	}
	return err
}
