package compare

import (
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/stats"
)

// Options are a campaign's statistics, with the level that its guards read, by
// the label that makes strata.
func Options(c *spec.Campaign, by string) stats.Options {
	s := c.Decide.Statistics
	s.Confidence = c.Confidence()
	return options(s, by)
}

// options translates a campaign's statistics.
func options(s spec.Statistics, by string) stats.Options {
	return stats.Options{
		Interval: s.Interval, Generator: s.Bootstrap.Generator, Resamples: s.Bootstrap.Resamples,
		Seed: s.Bootstrap.Seed, Confidence: s.Confidence, By: by,
	}
}

// statistics compares the pairs, gives strata of which nothing could be paired
// an entry without a value, and applies the policy bound.
func (p *pairing) statistics(opt stats.Options) (stats.Result, error) {
	if err := p.checkRange(); err != nil {
		return stats.Result{}, err
	}
	if opt.By != "" && opt.Weights == nil {
		opt.Weights = p.strataWeights(opt.By)
	}
	res, err := stats.Compare(p.pairs, opt)
	if err != nil {
		return res, err
	}
	if err := p.addEmptyStrata(&res, opt); err != nil {
		return res, err
	}
	if p.attrition.Policy == Bound {
		p.widen(&res, opt.By)
	}
	return res, nil
}

// checkRange refuses scores outside [0,1] where a policy assumes what a
// missing one could be at most.
func (p *pairing) checkRange() error {
	if p.attrition.Total == 0 || p.attrition.Policy == Undetermined {
		return nil
	}
	for _, pr := range p.pairs {
		if min(pr.A, pr.B) < 0 || max(pr.A, pr.B) > 1 {
			return fmt.Errorf("missing: %s needs scores in [0,1], and item %q has %v and %v", p.attrition.Policy, pr.ID, pr.A, pr.B)
		}
	}
	return nil
}

// strataWeights adds up the weights of the items of each stratum; nil unless
// every paired item carries one.
func (p *pairing) strataWeights(by string) map[string]float64 {
	sums := map[string]float64{}
	for _, pr := range p.pairs {
		w, ok := p.weights[pr.ID]
		if !ok {
			return nil
		}
		if stratum, ok := pr.Strata[by]; ok {
			sums[stratum] += w
		}
	}
	if len(sums) == 0 {
		return nil
	}
	return sums
}

// addEmptyStrata keeps a stratum that lost all its items from vanishing: a
// guard on every stratum would pass without it.
func (p *pairing) addEmptyStrata(res *stats.Result, opt stats.Options) error {
	if opt.By == "" {
		return nil
	}
	opt.By, opt.Weights = "", nil
	for _, u := range p.unpaired {
		stratum, ok := u.Strata[res.By]
		if !ok {
			continue
		}
		if _, there := res.Strata[stratum]; there {
			continue
		}
		empty, err := stats.Compare(nil, opt)
		if err != nil {
			return err
		}
		res.Strata[stratum] = empty.Overall
	}
	return nil
}

// widen applies the policy bound to the overall set and to each stratum, each
// with its own share of unpaired items.
func (p *pairing) widen(res *stats.Result, by string) {
	res.Overall = widened(res.Overall, len(p.unpaired))
	lost := map[string]int{}
	for _, u := range p.unpaired {
		if stratum, ok := u.Strata[by]; ok {
			lost[stratum]++
		}
	}
	for stratum, m := range lost {
		res.Strata[stratum] = widened(res.Strata[stratum], m)
	}
}

func widened(s stats.Summary, m int) stats.Summary {
	n := s.N + m
	s.Lo, s.Hi = s.Interval().Widen(m, n).Bounds()
	for _, iv := range []*stats.Interval{
		&s.Intervals.Bootstrap, &s.Intervals.Tango, &s.Intervals.T,
		&s.Intervals.BCa, &s.Intervals.Clustered, &s.Intervals.ClusterBootstrap,
	} {
		*iv = iv.Widen(m, n)
	}
	return s
}
