package preflight

import (
	"context"
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

const story = "Write a story of about eighty words about a lighthouse keeper who finds an old compass."

// seed sends the very same request twice alone and then many times at once,
// greedily and then with a temperature and a fixed seed, and counts the answers
// that equal the first.
func seed(ctx context.Context, s *session) (evidence.Check, error) {
	p := s.seed()
	r := s.own(or(p.Prompt, story))
	r.Sampling.Temperature = 0
	greedy, err := s.sameness(ctx, "greedy", r, p)
	if err != nil || greedy.check.Verdict != "" {
		return greedy.check, err
	}
	r.Sampling.Temperature = p.Temperature
	sampled, err := s.sameness(ctx, "sampled", r, p)
	if err != nil || sampled.check.Verdict != "" {
		return sampled.check, err
	}
	r.Sampling.Seed++
	other, err := s.ask(ctx, question{what: "sampled, another seed", request: r})
	if err != nil {
		return evidence.Check{}, err
	}
	return seedOutcome(p, greedy, sampled, other), nil
}

// round is how many answers of one round equal its first.
type round struct {
	name        string
	alone, load float64 // shares
	first       answer
	check       evidence.Check // why the round could not be made, the zero value = it was
}

func (s *session) sameness(ctx context.Context, name string, r llm.Request, p spec.SeedCheck) (out round, err error) {
	out.name = name
	alone, err := s.askAll(ctx, 2, 1, func(i int) question {
		return question{what: fmt.Sprintf("%s, alone %d", name, i+1), request: r}
	})
	if err != nil {
		return out, err
	}
	load, err := s.askAll(ctx, p.Requests, p.Concurrency, func(i int) question {
		return question{what: fmt.Sprintf("%s, under load %d", name, i+1), request: r}
	})
	if err != nil {
		return out, err
	}
	for _, a := range append(alone[:2:2], load...) {
		if why := a.missing(); why != "" {
			out.check = notSupported(why)
			return out, nil
		}
		if a.wrong != "" {
			out.check = failed(a.seen.What + ": " + a.wrong)
			return out, nil
		}
	}
	out.first = alone[0]
	out.alone, out.load = same(alone[0], alone[1:]), same(alone[0], load)
	return out, nil
}

// same is the share of answers that equal the first in every channel.
func same(first answer, others []answer) float64 {
	n := 0
	for _, a := range others {
		if equalAnswers(first, a) {
			n++
		}
	}
	return float64(n) / float64(len(others))
}

func equalAnswers(a, b answer) bool {
	return a.Text == b.Text && a.Reasoning == b.Reasoning && a.FinishReason == b.FinishReason
}

func seedOutcome(p spec.SeedCheck, greedy, sampled round, other answer) evidence.Check {
	c := passed(fmt.Sprintf("of equal requests, the share of equal answers under load is %.3g greedily and %.3g sampled", greedy.load, sampled.load))
	for _, r := range []round{greedy, sampled} {
		for _, x := range []struct {
			how   string
			share float64
		}{{"alone", r.alone}, {"under_load", r.load}} {
			c.Measured = append(c.Measured, measured("same_"+r.name+"_"+x.how, "share", x.share, &p.MinSame))
			if x.share < p.MinSame && c.Verdict == evidence.CheckPassed {
				c.Verdict = evidence.CheckFailed
				c.Reason = fmt.Sprintf("%s: the share of answers that equal the first is %.3g, want at least %.3g", r.name+" "+x.how, x.share, p.MinSame)
			}
		}
	}
	c.Measured = append(c.Measured, otherSeed(sampled.first, other))
	return c
}

// otherSeed tells whether the seed does anything: answers that are the same
// with every seed are the same with one.
func otherSeed(first, other answer) evidence.Measured {
	m := evidence.Measured{Name: "differs_by_seed", Unit: "share"}
	if why := other.problem(); why != "" {
		m.Reason = why
		return m
	}
	v := 0.0
	if !equalAnswers(first, other) {
		v = 1
	}
	m.Value = &v
	return m
}
