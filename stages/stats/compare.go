package stats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Pair is one item scored on both sides. A is the baseline, B the candidate.
type Pair struct {
	ID      string
	A, B    float64
	Strata  map[string]string // label -> value, such as "task" -> "extract"
	Cluster string            // empty: the item is independent of all others
}

// Options choose how to compare. The zero value is interval auto, 10000
// resamples, seed 0, confidence 0.95, no strata.
type Options struct {
	// Interval is auto, bootstrap, tango, t or bca.
	Interval string
	// Generator is fast or numpy. Empty means numpy when Interval is
	// bootstrap, which promises NumPy's numbers, and fast otherwise.
	Generator  string
	Resamples  int
	Seed       uint64
	Confidence float64
	// By names the label that makes strata.
	By string
	// Weights of strata, such as shares of traffic; needs By.
	Weights map[string]float64
}

// Result is a comparison of two score sets.
type Result struct {
	Overall Summary            `json:"overall"`
	By      string             `json:"by,omitempty"`
	Strata  map[string]Summary `json:"strata"`
	// Weighted is the mean over strata by Options.Weights.
	Weighted *Weighted `json:"weighted,omitempty"`
	// Warnings are all warnings, those of strata included.
	Warnings []Warning `json:"warnings"`
}

// scoreLimit keeps squares and cubes of differences finite.
const scoreLimit = 1e30

// Compare pairs nothing itself: each Pair is one item. The order of pairs does
// not matter. Duplicate ids, scores that are not finite, and unknown options
// are errors; everything else that goes wrong is a reason or a warning.
func Compare(pairs []Pair, opt Options) (Result, error) {
	opt, err := opt.filled()
	if err != nil {
		return Result{}, err
	}
	pairs = slices.SortedFunc(slices.Values(pairs), func(x, y Pair) int { return cmp.Compare(x.ID, y.ID) })
	if err := checkPairs(pairs); err != nil {
		return Result{}, err
	}
	res := Result{By: opt.By, Strata: map[string]Summary{}, Warnings: []Warning{}}
	if res.Overall, err = newSample("", pairs).summarise(opt); err != nil {
		return Result{}, err
	}
	res.Warnings = append(res.Warnings, res.Overall.Warnings...)
	if opt.By == "" {
		return res, nil
	}
	if err := res.stratify(pairs, opt); err != nil {
		return Result{}, err
	}
	res.regressions(opt)
	res.weigh(opt)
	return res, nil
}

func (o Options) filled() (Options, error) {
	if o.Interval == "" {
		o.Interval = MethodAuto
	}
	if !slices.Contains([]string{MethodAuto, MethodBootstrap, MethodTango, MethodT, MethodBCa}, o.Interval) {
		return o, fmt.Errorf("compare: unknown interval %q; use auto, bootstrap, tango, t or bca", o.Interval)
	}
	if o.Generator == "" {
		o.Generator = GeneratorFast
		if o.Interval == MethodBootstrap {
			o.Generator = GeneratorNumPy
		}
	}
	if len(o.Weights) > 0 && o.By == "" {
		return o, fmt.Errorf("compare: weights are given without the label that makes strata")
	}
	boot, err := o.bootstrap().filled()
	if err != nil {
		return o, fmt.Errorf("compare: %w", err)
	}
	o.Resamples, o.Confidence = boot.Resamples, boot.Confidence
	return o, nil
}

func (o Options) bootstrap() BootstrapOptions {
	return BootstrapOptions{Resamples: o.Resamples, Seed: o.Seed, Confidence: o.Confidence, Generator: o.Generator}
}

func checkPairs(sorted []Pair) error {
	for i, p := range sorted {
		if i > 0 && p.ID == sorted[i-1].ID {
			return fmt.Errorf("compare: item %q occurs twice; ids must be unique", p.ID)
		}
		for _, score := range []float64{p.A, p.B} {
			if !(math.Abs(score) <= scoreLimit) {
				return fmt.Errorf("compare: item %q has score %v; leave items without a score out and count them", p.ID, score)
			}
		}
	}
	return nil
}

func (res *Result) stratify(pairs []Pair, opt Options) error {
	strata := map[string][]Pair{}
	unlabelled := 0
	for _, p := range pairs {
		name, ok := p.Strata[opt.By]
		if !ok {
			unlabelled++
			continue
		}
		strata[name] = append(strata[name], p)
	}
	if unlabelled > 0 {
		res.Warnings = append(res.Warnings, Warning{Code: WarnUnlabelledItems,
			Message: fmt.Sprintf("%d of %d items have no label %q and are in no stratum", unlabelled, len(pairs), opt.By)})
	}
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		s, err := newSample(name, strata[name]).summarise(opt)
		if err != nil {
			return fmt.Errorf("stratum %q: %w", name, err)
		}
		res.Strata[name] = s
		res.Warnings = append(res.Warnings, s.Warnings...)
	}
	return nil
}

// regressions adds one-sided p-values to the strata, adjusted by Holm over
// those that have one.
func (res *Result) regressions(opt Options) {
	var names []string
	var ps []float64
	for _, name := range slices.Sorted(maps.Keys(res.Strata)) {
		if p, ok := res.Strata[name].worse(); ok {
			names, ps = append(names, name), append(ps, p)
		}
	}
	for i, adjusted := range Holm(ps) {
		s := res.Strata[names[i]]
		s.Regression = &Regression{P: ps[i], PHolm: adjusted, Flagged: adjusted <= 1-opt.Confidence}
		res.Strata[names[i]] = s
	}
}

// worse is the one-sided p-value of "B is worse than A": McNemar's exact test
// for independent 0/1 scores, Student's t otherwise.
func (s Summary) worse() (float64, bool) {
	if s.Binary && s.Clusters == nil && s.N > 0 {
		return McNemarTest(s.Discordant.B, s.Discordant.C).Worse, true
	}
	if s.SE == nil || *s.SE == 0 {
		return 0, false
	}
	df := float64(s.N - 1)
	if s.Clusters != nil {
		df = float64(s.Clusters.N - 1)
	}
	stat := *s.Delta / *s.SE
	p := float64(tTwoSided(stat, df) / 2)
	if stat > 0 {
		p = 1 - p
	}
	return p, true
}

func (res *Result) weigh(opt Options) {
	if len(opt.Weights) == 0 {
		return
	}
	strata := map[string]Paired{}
	for name, s := range res.Strata {
		strata[name] = Paired{N: s.N, Mean: value(s.Delta), SD: value(s.SD), SE: value(s.SE)}
	}
	w, err := StratifiedMean(strata, opt.Weights, opt.Confidence)
	if err != nil {
		res.Warnings = append(res.Warnings, Warning{Code: WarnWeightsDontMatch, Message: err.Error()})
		return
	}
	res.Weighted = &w
}
