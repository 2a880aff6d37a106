package score

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cupel-dev/cupel/stages/items"
)

// ScorerError begins the reason of an answer that its scorer could not score.
const ScorerError = "scorer-error: "

// Score is what one answer is worth. Value means nothing unless Scored.
type Score struct {
	Value  float64
	Scored bool
	Reason string
}

// Compiler makes scorers for items. It keeps compiled schemas, so use one for
// a whole item set; it is not safe for concurrent use.
type Compiler struct {
	overrides map[string]params
	env       *env
	looking   bool // no scorer needs the campaign's word
}

// Looking returns a compiler for a look at items that scores no answer of a
// model: scorers that run programs or ask a judge may be named by the items
// alone, since nothing is run or asked.
func Looking() *Compiler {
	return &Compiler{overrides: map[string]params{}, env: newEnv(), looking: true}
}

// NewCompiler returns a compiler. overrides, scorer name -> parameters, go over
// an item's own parameters one by one; a name that is no scorer is an error.
func NewCompiler(overrides map[string]map[string]any) (*Compiler, error) {
	c := &Compiler{overrides: map[string]params{}, env: newEnv()}
	for _, name := range keys(overrides) {
		if _, ok := Lookup(name); !ok {
			return nil, unknown("scorer", name, Names())
		}
		p := params{}
		for key, value := range overrides[name] {
			b, err := json.Marshal(value)
			if err != nil {
				return nil, fmt.Errorf("scorer %s: parameter %s: %w", name, key, err)
			}
			p[key] = b
		}
		c.overrides[name] = p
	}
	return c, nil
}

// Compiled scores the answers to one item.
type Compiled struct {
	names []string
	funcs []Func
}

// Use lets scorers run programs, until ctx ends; without it their answers have
// no value. The caller closes the compiler.
func (c *Compiler) Use(ctx context.Context, r Runner) {
	if r != nil {
		c.env.programs = bind(ctx, r)
	}
}

// Close ends the programs that scorers have started.
func (c *Compiler) Close() error {
	var errs []error
	for _, key := range keys(c.env.asked) {
		errs = append(errs, c.env.asked[key].close())
	}
	return errors.Join(errs...)
}

// Compile makes the scorers of an item ready. An error is one of the item or
// of the parameters: an unknown name, a missing reference, a bad schema.
func (c *Compiler) Compile(it *items.Item) (*Compiled, error) {
	out := &Compiled{}
	for _, ref := range it.Scorer {
		s, ok := Lookup(ref.Name)
		if !ok {
			return nil, unknown("scorer", ref.Name, Names())
		}
		if s.Runs && !c.named(s.Name) {
			return nil, errRunsUnnamed(s.Name)
		}
		if s.Asks && !c.named(s.Name) {
			return nil, errAsksUnnamed(s.Name)
		}
		f, err := s.build(params(ref.Params).over(c.overrides[ref.Name]), it, c.env)
		if err != nil {
			return nil, fmt.Errorf("scorer %s: %w", s.Name, err)
		}
		out.funcs = append(out.funcs, f)
		out.names = append(out.names, s.Name)
	}
	return out, nil
}

// named reports whether the campaign allows a scorer by its name.
func (c *Compiler) named(scorer string) bool { return c.looking || c.overrides[scorer] != nil }

// Score scores one answer: the smallest value of the item's scorers, with the
// reason of the one that gave it. One scorer without a value leaves the answer
// without one.
func (c *Compiled) Score(out Output) Score {
	worst := Score{}
	for i, f := range c.funcs {
		s := run(f, out)
		if len(c.funcs) > 1 {
			s.Reason = c.names[i] + ": " + s.Reason
		}
		if !s.Scored {
			return s
		}
		if i == 0 || s.Value < worst.Value {
			worst = s
		}
	}
	return worst
}

// run calls a scorer. A panic in it, or in a library under it, is a scorer
// error of this one answer.
func run(f Func, out Output) (s Score) {
	defer func() {
		if p := recover(); p != nil {
			s = Score{Reason: ScorerError + clip(fmt.Sprint("panic: ", p))}
		}
	}()
	value, reason, err := f(out)
	var none *Undetermined
	switch {
	case errors.As(err, &none):
		return Score{Reason: clipTo(none.Error(), 200)}
	case err != nil:
		return Score{Reason: ScorerError + clipTo(err.Error(), 200)}
	case math.IsNaN(value) || value < 0 || value > 1:
		return Score{Reason: ScorerError + "the value is not in [0,1]"}
	}
	return Score{Value: value, Scored: true, Reason: clipTo(strings.ToValidUTF8(reason, "\uFFFD"), 300)}
}
