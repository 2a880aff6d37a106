package measure

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
)

const (
	// charsPerToken turns a nominal prompt length into characters. It is part
	// of the protocol and fits no model exactly; the engine's own count is what
	// is reported.
	charsPerToken = 3
	// uniqueWithin is the length in bytes within which prompts must part for a
	// prefix cache to be of no use; it is about one cache block of 16 tokens.
	uniqueWithin = 64
)

// prompter builds the prompts of one cell. The same cell has the same prompts
// for every candidate; two cells or trials share none.
type prompter struct {
	prompt      spec.CapacityPrompt
	output      spec.CapacityOutput
	concurrency int
	trial       int
	filler      string // long enough for any prompt of the cell
}

// prompt is one request's text and what its answer must hold.
type prompt struct {
	text   string
	length int // words of text
	marker string
	words  []string // asked for, nil = no length is asked for
}

func newPrompter(p cellParams, trial int) (*prompter, error) {
	b := &prompter{prompt: p.Prompt, output: p.Output, concurrency: p.Concurrency, trial: trial}
	t := b.prompt.Template
	switch {
	case t == "":
		b.prompt.Template = defaultTemplate(p)
	case p.Prompt.Canary && !strings.Contains(t, "{canary}"):
		return nil, step.WithHint(errors.New("the prompt asks for a canary, and its template has none"), "put {canary} into prompt.template, or drop prompt.canary")
	case p.Output.Words > 0 && !strings.Contains(t, "{word-list}"):
		return nil, step.WithHint(errors.New("the output is to have words, and the prompt's template does not list them"), "put {word-list} into prompt.template, or drop output.words")
	}
	b.filler = filler(p.Prompt.Tokens * charsPerToken)
	return b, nil
}

// defaultTemplate puts the long part first, so that a shared prompt is a shared
// prefix, and what is asked for last.
func defaultTemplate(p cellParams) string {
	t := "{filler}\nThis is request {index}. "
	if p.Prompt.Canary {
		t += "Begin your answer with {canary} and one space. "
	}
	if p.Output.Words > 0 {
		return t + "Write these {words} words in this order, separated by single spaces, add nothing, and do not stop before the last one: {word-list}"
	}
	return t + "Say in one line what stands above."
}

// build returns the prompt of a request; warm-up requests have the indices
// after the last timed one.
func (b *prompter) build(index int) prompt {
	rng := rand.New(rand.NewPCG(uint64(b.concurrency)<<32|uint64(b.trial), uint64(index)))
	p := prompt{marker: b.marker(index)}
	head := ""
	if b.prompt.Cache == "unique" && !partsEarly(b.prompt.Template) {
		head = fmt.Sprintf("%016x\n", rng.Uint64())
	}
	list := ""
	if b.output.Words > 0 {
		p.words = draw(rng, b.output.Words)
		list = strings.Join(p.words, " ")
	}
	fill := func(filler string) string {
		return head + strings.NewReplacer(
			"{canary}", p.marker, "{index}", strconv.Itoa(index), "{words}", strconv.Itoa(b.output.Words),
			"{word-list}", list, "{filler}", filler).Replace(b.prompt.Template)
	}
	budget := b.prompt.Tokens*charsPerToken - len(fill(""))
	p.text = fill(cut(b.filler, budget))
	p.length = len(strings.Fields(p.text))
	return p
}

// partsEarly reports whether the template itself makes prompts part within
// uniqueWithin.
func partsEarly(template string) bool {
	at := strings.Index(template, "{canary}")
	if i := strings.Index(template, "{index}"); i >= 0 && (at < 0 || i < at) {
		at = i
	}
	return at >= 0 && at <= uniqueWithin && !strings.Contains(template[:at], "{filler}")
}

// marker names a request: REQ- and at least four digits, different for every
// index of a cell. 7919 is prime to 10,000, so the four digits are a
// permutation, and neighbours do not look alike.
func (b *prompter) marker(index int) string {
	n := (index%10000*7919 + b.concurrency*131 + b.trial*1009) % 10000
	return fmt.Sprintf("REQ-%04d", index/10000*10000+n)
}

// cut keeps at most n bytes of text, ending after a word.
func cut(text string, n int) string {
	if n <= 0 {
		return ""
	}
	if n >= len(text) {
		return text
	}
	return text[:strings.LastIndexAny(text[:n], " \n")+1]
}
