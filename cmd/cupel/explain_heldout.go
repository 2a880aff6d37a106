package main

import (
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/score"
)

// explainer scores shown answers again for the scorers' own words: the stored
// scores of held-out items have none. It runs no programs, and says nothing where
// the first answer alone does not give the score.
type explainer struct{ compiler *score.Compiler }

func newExplainer(q *spec.Quality) (*explainer, error) {
	c, err := score.NewCompiler(q.Scorers)
	return &explainer{c}, err
}

func (e *explainer) reasons(list []failing, it *items.Item) {
	compiled, err := e.compiler.Compile(it)
	if err != nil {
		return // the withheld reasons stay
	}
	for i := range list {
		f := &list[i]
		if f.Flip.ID != it.ID || f.Baseline == nil || f.Answer == nil {
			continue
		}
		if s := compiled.Score(score.Output{Text: *f.Baseline}); s.Scored && s.Value == f.Flip.A {
			f.Flip.ReasonA = s.Reason
		}
		if s := compiled.Score(score.Output{Text: *f.Answer}); s.Scored && s.Value == f.Flip.B {
			f.Flip.ReasonB = s.Reason
		}
	}
}
