//go:build ignore

// Compares, in traces of cupel-meter, each counter of energy with the integral of
// the power of the moment of the same device and domain, between the first and the
// last step of the counter.
package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"text/tabwriter"

	"github.com/cupel-dev/cupel/stages/trace"
)

// tolerance is the greatest difference that agrees, in percent.
const tolerance = 5

var (
	errDiffer = errors.New("counter and integral differ by more than 5 %")
	errNone   = errors.New("cannot tell: no counter that moved beside a power of the moment")
)

func main() {
	err := run(os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "meter-gpu:", err)
	if errors.Is(err, errDiffer) {
		os.Exit(1)
	}
	os.Exit(3)
}

func run(files []string) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "trace\tdevice\tdomain\tspan s\tcounter J\tcounter W\tintegral W\tdiffer %\tstep ms\tlongest ms\tfailed")
	rows, far := 0, 0
	for _, name := range files {
		t, err := read(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for i, c := range t.Channels {
			if c.Quantity != trace.Energy {
				continue
			}
			r, ok := compare(t, i)
			p := t.Period(i, 0, t.LastT)
			fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%.3f\t%.3f\t%s\t%s\t%.1f\t%.1f\t%d\n", name, c.Device, c.Domain, r.span, r.joules, r.joules/r.span,
				number(r.power, ok), number(r.differ(), ok), float64(p.Mean)/1e6, float64(p.Max)/1e6, len(t.Samples[i])-p.Looks)
			if ok {
				rows++
			}
			if ok && math.Abs(r.differ()) > tolerance {
				far++
			}
		}
	}
	switch {
	case rows == 0:
		return errNone
	case far > 0:
		return errDiffer
	}
	return nil
}

func number(x float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}

func read(name string) (*trace.Trace, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := trace.Read(f)
	if err == nil && t.None != nil {
		err = fmt.Errorf("nothing was recorded: %s", t.None.Reason)
	}
	return t, err
}

// row is one comparison.
type row struct {
	span, joules float64
	power        float64 // W, mean of the integral
}

func (r row) differ() float64 { return 100 * (r.power*r.span/r.joules - 1) }

// compare is not ok when there is no counter that moved, or no power beside it.
func compare(t *trace.Trace, counter int) (r row, ok bool) {
	var ticks []trace.Sample
	before := int64(math.MinInt64)
	for _, s := range t.Samples[counter] {
		if s.E == "" && s.V != before {
			ticks, before = append(ticks, s), s.V
		}
	}
	if len(ticks) < 3 {
		return row{span: math.NaN(), joules: math.NaN()}, false
	}
	first, last := ticks[1], ticks[len(ticks)-1] // the first value was there before
	c := t.Channels[counter]
	r.span, r.joules = float64(last.T-first.T)/1e9, float64(last.V-first.V)*trace.Units[c.Unit]
	for i, p := range t.Channels {
		if p.Device == c.Device && p.Domain == c.Domain && p.Quantity == trace.Power {
			r.power = trapezoid(t.Samples[i], first.T, last.T) * trace.Units[p.Unit] / r.span
			return r, r.joules > 0
		}
	}
	return r, false
}

// trapezoid integrates what was read between two moments, in units times seconds.
func trapezoid(samples []trace.Sample, from, to int64) (sum float64) {
	var before *trace.Sample
	for i := range samples {
		s := &samples[i]
		if s.E != "" {
			continue
		}
		if before != nil {
			a, b := max(before.T, from), min(s.T, to)
			if b > a {
				at := func(t int64) float64 {
					return float64(before.V) + float64(s.V-before.V)*float64(t-before.T)/float64(s.T-before.T)
				}
				sum += (at(a) + at(b)) / 2 * float64(b-a) / 1e9
			}
		}
		before = s
	}
	return sum
}
