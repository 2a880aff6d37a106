package prompts

import (
	"crypto/sha256"
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
)

// Ids of the builders.
const (
	WordsV1   = "cupel/words-v1"
	AnvilS    = "anvil/s"
	AnvilN    = "anvil/n"
	BurstV1   = "cupel/burst-v1"
	LadderV1  = "cupel/ladder-v1"
	ContextV1 = "cupel/context-v1"
	BenchV1   = "cupel/bench-v1"
)

// NominalCharsPerToken turns a nominal prompt length into characters. It fits
// no model exactly; Calibration finds the ratio that does.
const NominalCharsPerToken = 3.0

// Prompt is one request's text and what its answer must hold.
type Prompt struct {
	Text        string
	Builder     string   // that made it; Canary and Output follow its rules
	Marker      string   // that the text asks the answer to begin with, "" = none
	Group       string   // bench prompt, context case
	Words       []string // the output words asked for, nil = none; shared, not to be written to
	Length      int      // words of Text
	AskedTokens int      // the length asked for, 0 = none
	Answer      *Expect  // nil = no answer is right or wrong
}

// Expect is the answer that is the right one.
type Expect struct {
	Case     string // needle, native-needle, ...
	Position string // of what is asked for, as a share of the text
	Want     string
}

// Builder makes the prompts of a cell. Build is a pure function of the index,
// from 0, and is safe for concurrent use. Warm-up requests have the indices
// after the last timed one.
type Builder interface {
	ID() string
	Build(index int) (Prompt, error)
}

// Cell is what the prompts of one cell depend on. Two cells that differ in
// Concurrency, Trial, Point or Seed share no prompt and no prefix, unless the
// workload asks for a shared one.
type Cell struct {
	Prompt        spec.CapacityPrompt
	Output        spec.CapacityOutput
	Concurrency   int    // 0 = open loop
	Trial         int    // from 1
	Point         string // names the cell where concurrency does not: rate=2.5, a probe, a workload
	Requests      int    // timed ones
	Seed          int64
	CharsPerToken float64 // 0 = nominal
	Lengths       []int   // tokens asked for by index, from a trace; nil = as Prompt says
	Blocks        Blocks  // that prompts begin with, from a trace; nil = none
	Shared        string  // names whose a shared prompt is: two workloads have different ones
	MaxTokens     int     // of the output, 0 = not stated
	ContextLimit  int     // of the candidate, 0 = not known
}

// New returns the builder that the cell's prompt names.
func New(c Cell) (Builder, error) {
	switch c.Prompt.Builder {
	case "", WordsV1:
		return newWords(c, WordsV1)
	case AnvilS, AnvilN:
		return newAnvil(c)
	}
	return nil, step.WithHint(fmt.Errorf("prompt builder %q is not known", c.Prompt.Builder), "use cupel/words-v1, anvil/s or anvil/n")
}

// Calibrates reports whether the length of the prompt's text follows
// Cell.CharsPerToken and the campaign does not ask for the nominal one.
func Calibrates(p spec.CapacityPrompt) bool {
	switch {
	case p.Builder == AnvilS || p.Builder == AnvilN || p.Calibrate == "nominal":
		return false
	case p.Template != "" && !hasFiller(p.Template):
		return false
	}
	return p.Tokens > 0 || p.Lengths != nil
}

// Digest returns the SHA-256 of the prompts 0 to n-1 in order, each followed by
// a NUL, and how many of them differ. One prompt is held at a time.
func Digest(b Builder, n int) (sha step.Digest, distinct int, err error) {
	all, seen := sha256.New(), make(map[step.Digest]struct{}, n)
	for i := range n {
		p, err := b.Build(i)
		if err != nil {
			return sha, 0, fmt.Errorf("prompt %d: %w", i, err)
		}
		text := append([]byte(p.Text), 0)
		all.Write(text)
		seen[sha256.Sum256(text)] = struct{}{}
	}
	return step.Digest(all.Sum(nil)), len(seen), nil
}

// indexed reports an index that no request can have.
func indexed(index int) error {
	if index < 0 {
		return fmt.Errorf("prompt %d: indices begin at 0", index)
	}
	return nil
}

// plan returns the lengths in tokens that are asked for, by index; a length of
// 0 is none.
type plan struct {
	fixed int
	drawn []int
}

// spare lengths are drawn for the warm-up that follows the timed requests.
const spare = 1024

func (c *Cell) plan() (plan, error) {
	switch {
	case c.Lengths != nil:
		if len(c.Lengths) < c.Requests {
			return plan{}, fmt.Errorf("%d prompt lengths are given for %d requests", len(c.Lengths), c.Requests)
		}
		for i, n := range c.Lengths {
			if n < 1 {
				return plan{}, fmt.Errorf("prompt %d is to have %d tokens: one is the least", i, n)
			}
		}
		return plan{drawn: c.Lengths}, nil
	case c.Prompt.Lengths != nil:
		drawn, err := Lengths(*c.Prompt.Lengths, max(c.Requests, 0)+spare)
		return plan{drawn: drawn}, err
	}
	return plan{fixed: c.Prompt.Tokens}, nil
}

// at returns the length asked of a request; those past the plan, which are
// warm-up, begin it again.
func (p plan) at(index int) int {
	if len(p.drawn) == 0 {
		return p.fixed
	}
	return p.drawn[index%len(p.drawn)]
}

func (p plan) least() int {
	least := p.at(0)
	for _, n := range p.drawn {
		least = min(least, n)
	}
	return least
}
