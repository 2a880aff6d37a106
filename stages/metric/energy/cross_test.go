package energy

import (
	"slices"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// besidePower is a power that is right but from a to b, where it cannot be read.
func besidePower(a, b float64) func(*rig) {
	return func(r *rig) {
		*r = r.reads("GPU-1", trace.NVGPU, trace.Power, "mW", "field 186", func(t float64) (int64, string) {
			if t >= a && t < b {
				return 0, "nvml-error"
			}
			return int64(1000 * loaded.watts(t)), ""
		})
	}
}

// A check that could not be made is not one that was passed: it is told.
func TestCrossCheckNotMade(t *testing.T) {
	const not = "the counter of nvml.gpu of GPU-1 could not be held against all of its power "
	for _, x := range []struct {
		what   string
		change func(*rig)
		trial  func(*Trial)
		doubts []string
	}{
		{"it could", besidePower(99, 99), nil, nil},
		{"there is no power", func(*rig) {}, nil, nil},
		{"a gap in the power", besidePower(26, 27), nil, []string{not + "during the cell: sampling-gap"}},
		{"a gap of the idle machine", besidePower(5, 6), nil, []string{not + "while the machine was idle: sampling-gap"}},
		{"power that was not read at the start", besidePower(14.5, 17.5), nil, []string{not + "during the cell: sampling-gap"}},
		{"power from within the cell on", besidePower(0, 18), nil, []string{not + "while the machine was idle: not-bracketed", not + "during the cell: not-bracketed"}},
		{"power that could never be read", besidePower(0, 99), nil, []string{not + "while the machine was idle: not-bracketed", not + "during the cell: not-bracketed"}},
		{"a cell of less than 50 periods", besidePower(99, 99), func(t *Trial) {
			t.Requests = []metric.Request{asked(17, 18, 21.5, 500, 101)}
		}, []string{not + "during the cell: publication-too-coarse"}},
	} {
		t.Run(x.what, func(t *testing.T) {
			tl := good(t, x.change)
			if x.trial != nil {
				x.trial(&tl)
			}
			c := NewCell(one("nv.gpu"), []Trial{tl})
			want(t, "W", c.Bases[0].Windows[Whole].W, 400, "")
			slices.Sort(x.doubts)
			if got := slices.Sorted(slices.Values(c.Doubts)); !slices.Equal(got, x.doubts) {
				t.Errorf("doubts: %q, want %q", got, x.doubts)
			}
			sound(t, &c)
		})
	}
}

// What can be held against the power is: one look that failed does not hide that the
// rest of it is another power.
func TestCrossCheckBesideAGap(t *testing.T) {
	for _, gap := range [][2]float64{{26, 27}, {14.5, 17.5}, {35, 99}} {
		tl := good(t, func(r *rig) {
			besidePower(gap[0], gap[1])(r)
			right := r.charts[len(r.charts)-1].at
			r.charts[len(r.charts)-1].at = func(t float64) (int64, string) {
				w, code := right(t)
				return 2 * w, code
			}
		})
		tl.Idle = nil
		c := NewCell(one("nv.gpu"), []Trial{tl})
		want(t, "J", c.Bases[0].Windows[Whole].J, 0, metric.CrossCheck)
	}
}
