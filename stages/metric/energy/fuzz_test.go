package energy

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/trace"
)

// Whatever a recording says, what is derived from it is sound: no panic, no NaN, nothing
// negative, nothing null without a reason.
func FuzzNewCell(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.jsonl")
	for i, file := range files {
		b, err := os.ReadFile(file)
		must(f, err)
		f.Add(b[:min(len(b), 4000)], int64(i)*1e9, int64(17e9), int64(27e9), uint8(i))
	}
	tiny := rig{hz: 2, phase: 0.1, seconds: 12, devices: []trace.Device{gpu("GPU-1")}}
	tiny = tiny.counts("GPU-1", trace.NVGPU, "mJ", nvmlEnergy, published(flat(300), 0.5, 1e-3, 0))
	f.Add(tiny.bytes(f), int64(0), int64(3e9), int64(9e9), uint8(1))
	bases := slices.Sorted(maps.Keys(Bases))
	f.Fuzz(func(t *testing.T, in []byte, start, from, to int64, how uint8) {
		tr, err := trace.Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		if tr.None != nil {
			tr.None.Reason = metric.NoMeter // its own codes are not the dictionary's
		}
		n, first := int64(how), from
		r := metric.Request{Dispatched: from, FirstOutput: first, FirstVisible: first, LastOutput: first, End: to, PromptTokens: &n, OutputTokens: &n, Eligible: how&1 == 0}
		tl := Trial{Trace: tr, Requests: []metric.Request{r, r}, StartUnixNS: tr.WallNS + start, WallNS: to, Local: how&2 == 0}
		tl.Requests[1].Dispatched = from + to/2
		if how&4 == 0 {
			tl.Requests = tl.Requests[:1]
		}
		tl.Idle = &Span{tr.WallNS + start, tr.WallNS + from}
		other := tl // later, so that the two may differ
		other.StartUnixNS += from
		c := NewCell(Options{Streams: int(how & 1), Bases: bases, KWh: new(0.3), Shared: how&8 == 0, Processes: int(how>>4) & 3}, []Trial{tl, other})
		sound(t, &c)
		Comparable(&c, &c, Band{})
	})
}

// A curve is monotone, adds up, and says nothing where it cannot, whatever was read.
func FuzzCurve(f *testing.F) {
	f.Add([]byte{50, 1, 50, 0, 50, 1, 50, 0, 50, 9, 50, 200, 1, 255, 50, 1}, int64(0), uint8(0))
	f.Add(bytes.Repeat([]byte{50, 40}, 40), int64(1000), uint8(1))
	f.Add(bytes.Repeat([]byte{50, 40, 50, 0}, 40), int64(100), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, span64 int64, how uint8) {
		var samples []trace.Sample
		at, v := int64(0), int64(how)<<how
		for i := 0; i+1 < len(in); i += 2 {
			at += int64(in[i]) << (how % 40)
			if at < 0 || at > 1<<61 {
				break
			}
			switch d := int64(int8(in[i+1])); {
			case d == -128:
				samples = append(samples, trace.Sample{T: at, E: "nvml-error"})
				continue
			case d == -127:
				v = -v
			default:
				v += d << (how % 50)
			}
			samples = append(samples, trace.Sample{T: at, V: v})
		}
		c := trace.Channel{Domain: trace.RAPLPackage, Unit: "uJ", Range: max(span64, 0)}
		for _, c := range []*curve{counterCurve(samples, c, 2000, nil), powerCurve(samples, trace.Channel{Unit: "mW"}, 2000)} {
			for i := range c.t {
				if i > 0 && (c.t[i] <= c.t[i-1] || c.e[i] < c.e[i-1]) {
					t.Fatalf("knot %d: %d %v after %d %v", i, c.t[i], c.e[i], c.t[i-1], c.e[i-1])
				}
			}
			c.doubt(2000)
			step := at/7 + 1
			for from := int64(0); from < at; from += step {
				a, b := c.joules(span{0 + from/2, from}), c.joules(span{from, from + step})
				if of := c.bound(span{from, from + step}, int64(how)); b.why == "" && !(of.ns >= 0 && of.gapNS >= 0 && of.j >= 0 && of.gapJ >= 0 && of.clockJ >= 0) {
					t.Fatalf("%+v", of)
				}
				if both := c.joules(span{from / 2, from + step}); a.why == "" && b.why == "" && from > 0 {
					if both.why != "" || a.v < 0 || b.v < 0 || math.Abs(both.v-a.v-b.v) > 1e-6*(both.v+1) {
						t.Fatalf("%+v and %+v are %+v together", a, b, both)
					}
				}
			}
		}
	})
}

// Damage of every kind to a recording leaves what is derived sound.
func TestDamaged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range 400 {
		tl := good(t)
		damage(rnd, tl.Trace)
		o := one("nv.gpu", "wall", "nv.gpu+rapl.package")
		c := NewCell(o, []Trial{tl})
		sound(t, &c)
		if t.Failed() {
			t.Fatalf("round %d", i)
		}
	}
}

func damage(rnd *rand.Rand, tr *trace.Trace) {
	for range 1 + rnd.IntN(3) {
		c := rnd.IntN(len(tr.Samples))
		of := tr.Samples[c]
		a := rnd.IntN(len(of))
		b := min(a+1+rnd.IntN(1+rnd.IntN(200)), len(of))
		for k := a; k < b; k++ {
			switch s := &of[k]; rnd.IntN(8) {
			case 0:
				s.E, s.V = "nvml-error", 0
			case 1:
				s.V = rnd.Int64() - rnd.Int64()
			case 2:
				s.V = 0
			case 3:
				s.V += rnd.Int64N(1000)
			case 4:
				s.T = of[a].T
			case 5:
				s.V = of[a].V
			}
		}
		switch rnd.IntN(8) {
		case 0:
			tr.Samples[c] = of[:a]
		case 1:
			tr.Samples[c] = of[b:]
		case 2:
			tr.Samples[c] = slices.Delete(of, a, b)
		case 3:
			tr.Syncs = tr.Syncs[:rnd.IntN(len(tr.Syncs)+1)]
		case 4:
			tr.States = nil
		case 5:
			tr.Channels[c].Range = rnd.Int64()
		case 6:
			tr.Channels[c].Quantity = []trace.Quantity{trace.Energy, trace.Power, trace.PowerAverage, trace.ThermalTime}[rnd.IntN(4)]
		case 7:
			tr.End = nil
		}
	}
	for c := range tr.Samples {
		slices.SortStableFunc(tr.Samples[c], func(a, b trace.Sample) int { return cmp.Compare(a.T, b.T) })
	}
}
