package stats

import (
	"math"
	"strconv"
	"sync/atomic"
)

// Model is a kind of scores for which false passes are counted.
type Model struct {
	Name, Means string
	atoms       func(disagree, truth float64) []atom // nil: no such candidate
	jitter      bool                                 // items that do not differ that much still differ a little
	cluster     int                                  // items to a cluster, 0 = independent
	icc         float64                              // correlation of two items of a cluster
}

// atom is a difference and its probability.
type atom struct{ p, d float64 }

// Models are the kinds of scores beside independent 0/1 scores.
var Models = []Model{
	{Name: "partial", Means: "scores in quarters; an item that differs does so by 0.25, 0.5, 0.75 or 1", atoms: partial},
	{Name: "whole", Means: "fractional scores, of which those that differ do so by 1, the most they can", atoms: whole},
	{Name: "rare-loss", Means: "half of the items also move by 0.05 up or down; losses of 1 hide among them", atoms: whole, jitter: true},
	{Name: "clusters-4", Means: "0/1 scores in clusters of 4 items with intra-cluster correlation 0.3", atoms: whole, cluster: 4, icc: 0.3},
	{Name: "clusters-20", Means: "0/1 scores in clusters of 20 items with intra-cluster correlation 0.4", atoms: whole, cluster: 20, icc: 0.4},
}

// small is the difference that jitter makes.
const small = 0.05

// whole differs by -1 and 1.
func whole(disagree, truth float64) []atom {
	if math.Abs(truth) > disagree {
		return nil
	}
	return []atom{{(disagree - truth) / 2, -1}, {(disagree + truth) / 2, 1}}
}

// partial differs by a quarter to four, each as likely.
func partial(disagree, truth float64) []atom {
	const size = 0.625
	halves := whole(disagree, truth/size)
	var out []atom
	for _, h := range halves {
		for _, q := range []float64{0.25, 0.5, 0.75, 1} {
			out = append(out, atom{h.p / 4, h.d * q})
		}
	}
	return out
}

// otherCell draws one cell of the second table; stream tells the cells' draws
// apart.
func (o SimulateOptions) otherCell(m Model, n int, p float64, stream uint64) OtherCell {
	cell := OtherCell{Scores: m.Name, Items: n, Disagree: p}
	autos := []**Share{&cell.Auto.OnLimit, &cell.Auto.Equal, &cell.Auto.Better}
	ts := []**Share{&cell.T.OnLimit, &cell.T.Equal, &cell.T.Better}
	for i, truth := range o.truths() {
		atoms := m.atoms(p, truth)
		if atoms == nil {
			continue
		}
		if m.jitter {
			atoms = append(atoms, atom{0.25 * (1 - p), -small}, atom{0.25 * (1 - p), small})
		}
		runs := o.Runs
		if i > 0 {
			runs /= 5
		}
		auto, t := o.count(m, atoms, n, runs, stream|uint64(i))
		*autos[i], *ts[i] = drawn(auto, runs), drawn(t, runs)
	}
	return cell
}

// drawn is the share of k in runs; its standard error is that of the estimate
// with one more success and failure, which is not 0 when nothing was counted.
func drawn(k, runs int) *Share {
	n := float64(runs)
	p := float64(k+1) / (n + 2)
	return &Share{P: float64(k) / n, SE: math.Sqrt(p * (1 - p) / n)}
}

// count draws comparisons and counts those that open the gate, by auto and by
// the plain t interval.
func (o SimulateOptions) count(m Model, atoms []atom, n, runs int, stream uint64) (auto, t int) {
	var autos, ts atomic.Int64
	opt := Options{Interval: MethodAuto, Confidence: o.Confidence}
	eachBlock(BootstrapOptions{Resamples: runs, Seed: o.Seed ^ stream}, func(g *splitMix, first, end int) {
		d := newDrawing(m, atoms, n)
		for range end - first {
			s := d.draw(g)
			out, groups := s.describe(opt)
			out.settle(out.choose(), "", opt)
			if o.opens(out) {
				autos.Add(1)
			}
			if iv := groups.Paired.T(o.Confidence); iv.Defined && iv.Lo > -o.Margin {
				ts.Add(1)
			}
		}
	})
	return int(autos.Load()), int(ts.Load())
}

// drawing makes samples of one model, over and over in the same memory.
type drawing struct {
	model  Model
	atoms  []atom
	levels []binomialDraw // of how many of the items left take atom j
	tie    float64        // score of both sides where they do not differ
	sample sample
}

func newDrawing(m Model, atoms []atom, n int) *drawing {
	d := &drawing{model: m, atoms: atoms, tie: 0.5, sample: sample{a: make([]float64, n), b: make([]float64, n), cluster: make([]string, n)}}
	left := 1.0
	for _, a := range atoms {
		d.levels = append(d.levels, newBinomialDraw(min(1, max(0, a.p/left))))
		left -= a.p
	}
	if m.cluster > 0 {
		d.tie = 1
		for i := range n {
			d.sample.cluster[i] = strconv.Itoa(i / m.cluster)
		}
	}
	return d
}

func (d *drawing) draw(g *splitMix) sample {
	if d.model.cluster > 0 {
		d.clustered(g)
	} else {
		d.independent(g)
	}
	s := d.sample
	s.d = differences(s.a, s.b)
	return s
}

// independent draws how often each atom occurs; the order of items does not
// matter.
func (d *drawing) independent(g *splitMix) {
	i := 0
	for j := range d.levels {
		for range d.levels[j].draw(g, len(d.sample.a)-i) {
			d.put(i, d.atoms[j].d)
			i++
		}
	}
	for ; i < len(d.sample.a); i++ {
		d.put(i, 0)
	}
}

// clustered lets each item take its cluster's difference with probability
// sqrt(icc), so that two items of a cluster have correlation icc.
func (d *drawing) clustered(g *splitMix) {
	share, common := math.Sqrt(d.model.icc), 0.0
	for i := range d.sample.a {
		if i%d.model.cluster == 0 {
			common = d.one(g)
		}
		if g.Float64() < share {
			d.put(i, common)
		} else {
			d.put(i, d.one(g))
		}
	}
}

func (d *drawing) one(g *splitMix) float64 {
	u := g.Float64()
	for _, a := range d.atoms {
		if u -= a.p; u < 0 {
			return a.d
		}
	}
	return 0
}

// put gives item i scores in [0, 1] that differ by diff.
func (d *drawing) put(i int, diff float64) {
	a, b := d.tie, d.tie
	switch {
	case diff < 0:
		a, b = 1, 1+diff
	case diff > 0:
		a, b = 0, diff
	}
	d.sample.a[i], d.sample.b[i] = a, b
}
