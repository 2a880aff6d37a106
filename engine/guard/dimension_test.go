package guard

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type Plain struct {
	Rate float64 `cel:"rate" doc:"without an id"`
	N    float64 `cel:"n"`
	Name string  `cel:"name"`
}

type window struct {
	W *float64 `cel:"w"`
	J *float64 `cel:"j"`
}

type base struct {
	Cell   window   `cel:"cell" label:"window=cell"`
	Decode window   `cel:"decode" label:"window=decode"`
	IdleW  *float64 `cel:"idle_w"`
}

type bases struct {
	GPU  *base `cel:"gpu" label:"base=gpu"`
	Wall *base `cel:"wall" label:"base=wall"`
}

type metered struct {
	Plain  `cel:"-"`
	Energy bases   `cel:"energy" id:"energy"`
	StartC float64 `cel:"start_c" id:"start"`
}

type sides struct {
	N         float64  `cel:"n"`
	Candidate *metered `cel:"candidate"`
	Baseline  *metered `cel:"baseline"`
}

func idEnv(t testing.TB) *Env {
	t.Helper()
	env, err := New(sides{})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func TestIDsOfVariables(t *testing.T) {
	got := map[string]string{}
	for _, v := range idEnv(t).Variables() {
		got[v.Path] = v.ID
	}
	for path, want := range map[string]string{
		"candidate.energy.gpu.cell.w":     "energy_w{base=gpu,window=cell}",
		"baseline.energy.wall.decode.j":   "energy_j{base=wall,window=decode}",
		"candidate.energy.wall.idle_w":    "energy_idle_w{base=wall}",
		"candidate.start_c":               "start",
		"candidate.rate":                  "",
		"n":                               "",
		"candidate.energy.gpu.decode.w":   "energy_w{base=gpu,window=decode}",
		"baseline.name":                   "",
		"baseline.energy.gpu.idle_w":      "energy_idle_w{base=gpu}",
		"candidate.energy.wall.decode.w ": "",
	} {
		if got[path] != want {
			t.Errorf("%s: %q, want %q", path, got[path], want)
		}
	}
}

// In the rules c and b stand for the two sides, g and w for the bases.
var spelled = strings.NewReplacer("c.", "candidate.", "b.", "baseline.", "g.", "energy.gpu.", "w_.", "energy.wall.")

func TestIDs(t *testing.T) {
	env := idEnv(t)
	const cell, decode = "energy_j{base=gpu,window=cell}", "energy_j{base=gpu,window=decode}"
	for _, tt := range []struct {
		rule, want string // "" = it type-checks
	}{
		{"c.g.cell.j <= 0.9 * b.g.cell.j", ""},
		{"c.g.cell.j <= 5.0 && 1.0 < b.w_.cell.j", ""},
		{"c.g.cell.j <= 5", ""}, // a literal of another type compares too
		{"-c.g.cell.j > -b.g.cell.j / 2.0", ""},
		{"(c.g.cell.j + b.g.cell.j) / 2.0 < 3.0", ""},
		{"c.g.cell.j - b.g.cell.j <= 0.5", ""},
		{"c.g.cell.j / b.g.cell.j <= 1.1", ""},
		{"c.g.cell.j / b.g.cell.j <= c.rate / b.rate", ""}, // pure numbers
		{"c.g.cell.j / b.g.cell.j <= c.rate", ""},          // as today
		{"c.g.decode.j / c.g.cell.j < b.g.decode.j / b.g.cell.j", ""},
		{"c.g.cell.j * c.rate < b.rate * b.g.cell.j", ""},
		{"c.g.cell.j / c.rate < 2.0 * b.g.cell.j / b.rate", ""},
		{"c.g.cell.j / c.g.cell.w * c.g.cell.w < b.g.cell.j", ""},
		{"c.g.cell.j * (c.rate / b.rate) < b.g.cell.j", ""},
		{"(n > 1.0 ? c.g.cell.j : b.g.cell.j) < 2.0", ""},
		{"(n > 1.0 ? c.g.cell.j : 0.5) < b.g.cell.j", ""},
		{"[c.g.cell.j, b.g.cell.j, 1.0].all(x, x <= c.g.cell.j)", ""},
		{"[c.g.cell.j].filter(x, x > 0.0).exists(y, y < b.g.cell.j)", ""},
		{"[c.g.cell.j].map(x, x > 0.0).exists(y, y)", ""},
		{"{'a': c.g.cell.j}['a'] < b.g.cell.j", ""},
		{"{'a': c.g.cell.j}.a < b.g.cell.j", ""},
		{"{'a': c.g.cell.j}.all(k, k == c.name)", ""},
		{"c.g.cell.j in [b.g.cell.j]", ""},
		{"[c.g.cell.j] == [b.g.cell.j]", ""},
		{"c.name in {'a': c.g.cell.j}", ""},
		{"[c.g.cell.j][0] == b.g.cell.j", ""},
		{"size([c.g.cell.j, b.g.cell.j]) == 2", ""},
		{"c.g.cell.j < double('3.5')", ""},
		{"c.rate < b.n && c.rate + c.n < 2.0 || [c.rate, b.n].exists(x, x > n) || c.start_c < 50.0", ""}, // none has an id, or a constant

		{"c.g.cell.j <= 0.9 * b.g.decode.j", cell + " and " + decode + " do not compare"},
		{"c.g.cell.j == b.g.decode.j", cell + " and " + decode + " do not compare"},
		{"c.g.cell.j != b.w_.cell.j", cell + " and energy_j{base=wall,window=cell} do not compare"},
		{"c.g.cell.j > c.g.cell.w", cell + " and energy_w{base=gpu,window=cell} do not compare"},
		{"c.g.cell.w - c.g.idle_w < 5.0", "energy_w{base=gpu,window=cell} and energy_idle_w{base=gpu} are not added to or subtracted from one another"},
		{"c.g.cell.j + c.rate < 5.0", cell + " and rate (no id) are not added"},
		{"c.g.cell.j < b.rate", cell + " and rate (no id) do not compare"},
		{"n < b.g.cell.j", "n (no id) and " + cell + " do not compare"},
		{"c.g.cell.j < c.rate + b.n", cell + " and (candidate.rate + baseline.n) (no id) do not compare"},
		{"c.g.cell.j < c.g.cell.j / b.g.cell.j", cell + " and a pure number do not compare"},
		{"c.g.cell.j * c.rate < b.g.cell.j", cell + " * rate and " + cell + " do not compare"},
		{"c.g.cell.j * b.g.cell.j < b.g.cell.j", cell + "^2 and " + cell + " do not compare"},
		{"1.0 / c.g.cell.j < b.g.cell.j", "1 / " + cell + " and " + cell},
		{"c.g.cell.j / c.rate < b.g.cell.j / b.n", cell + " / rate and " + cell + " / n do not compare"},
		{"c.g.cell.j * (c.rate + b.rate) < b.g.cell.j * c.n", "do not compare"},
		{"(n > 1.0 ? c.g.cell.j : b.g.decode.j) < 2.0", cell + " and " + decode + " cannot stand for one another"},
		{"(n > 1.0 ? c.g.cell.j : c.rate) < 2.0", "cannot stand for one another"},
		{"[c.g.cell.j, b.g.decode.j].all(x, x < 2.0)", cell + " and " + decode + " cannot stand in one list"},
		{"[c.g.cell.j].all(x, x < c.g.decode.j)", cell + " and " + decode + " do not compare"},
		{"[c.g.cell.j].filter(x, x > 0.0).exists(y, y < b.g.decode.j)", "do not compare"},
		{"[c.g.cell.j].map(x, x < c.rate).exists(y, y)", "do not compare"},
		{"[c.g.cell.j] + [c.g.decode.j] == [1.0]", "are not added"},
		{"{'a': c.g.cell.j, 'b': c.g.decode.j}['a'] < 1.0", "cannot stand in one list"},
		{"{string(c.g.cell.j): 1.0}['a'] < 1.0", "makes a text of a number"},
		{"string(c.g.cell.j) in {'a': 1.0}", "makes a text of a number"},
		{"[1.0, 2.0][int(c.g.cell.j)] < 3.0", cell + " is not an operand of int"},
		{"c.g.cell.j in [b.g.decode.j]", "do not compare"},
		{"int(c.g.cell.j) == int(b.g.cell.j)", cell + " is not an operand of int"},
		{"uint(c.g.cell.j) <= uint(b.g.cell.j)", cell + " is not an operand of uint"},
		{"int(c.g.cell.j) == int(c.rate)", cell + " is not an operand of int"},
		{"string(c.g.cell.j) == string(b.g.cell.j)", "makes a text of a number"},
		{"string(c.g.cell.j).startsWith('1')", "makes a text of a number"},
		{"timestamp(int(c.g.cell.j)) > timestamp(0)", "do not compare by >"},
		{"timestamp(int(c.g.cell.j)) == timestamp(0)", cell + " is not an operand of int"},
		{"size([c.g.cell.j]) == int(c.g.cell.j)", cell + " is not an operand of int"},
		{"c.start_c < c.g.cell.j", "start and " + cell + " do not compare"},
		{"!(c.g.cell.j <= b.g.decode.j) && c.g.cell.j < 1.0", "do not compare"},
	} {
		rule := spelled.Replace(tt.rule)
		_, err := env.Compile(rule)
		var ce *CompileError
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", rule, err)
		case tt.want != "" && (!errors.As(err, &ce) || !strings.Contains(ce.Problems[0].Msg, tt.want)):
			t.Errorf("%s: %v, want %s", rule, err, tt.want)
		}
	}
}

// The place is the operator at which the two meet.
func TestIDsHaveACaret(t *testing.T) {
	rule := "candidate.rate > 1.0 &&\n  candidate.energy.gpu.cell.j <= 0.9 * baseline.energy.gpu.decode.j"
	_, err := idEnv(t).Compile(rule)
	var ce *CompileError
	if !errors.As(err, &ce) || len(ce.Problems) != 1 {
		t.Fatal(err)
	}
	want := "  candidate.energy.gpu.cell.j <= 0.9 * baseline.energy.gpu.decode.j\n                              ^"
	if p := ce.Problems[0]; p.Line != 2 || p.Col != 31 || ce.Caret(p) != want || p.Hint != "both must be of one id, or one a constant" {
		t.Errorf("%+v\n%s", p, ce.Caret(p))
	}
}

// All that is wrong is said, and said once.
func TestIDProblemsAreCounted(t *testing.T) {
	_, err := idEnv(t).Compile(spelled.Replace("c.g.cell.j < b.g.decode.j && 2.0 * (c.g.cell.w + c.g.cell.j) < b.g.cell.w"))
	var ce *CompileError
	if !errors.As(err, &ce) || len(ce.Problems) != 2 {
		t.Errorf("%v", err)
	}
}

// measured are values of which each is given a factor by what it is a quantity of.
func measured(t *rapid.T, scale map[string]float64) sides {
	side := func(name string) *metered {
		draw := func(what string) float64 { return float64(rapid.IntRange(1, 64).Draw(t, name+what)) / 8 }
		times := func(id string) *float64 { x := draw(id) * scale[id]; return &x }
		return &metered{Plain: Plain{Rate: draw("rate"), N: draw("n"), Name: name}, StartC: *times("start"), Energy: bases{
			GPU:  &base{window{times("gw"), times("gj")}, window{times("gdw"), times("gdj")}, times("gi")},
			Wall: &base{window{times("ww"), times("wj")}, window{times("wdw"), times("wdj")}, times("wi")},
		}}
	}
	return sides{N: float64(rapid.IntRange(1, 8).Draw(t, "n")), Candidate: side("c"), Baseline: side("b")}
}

var leaves = []string{"c.g.cell.j", "b.g.cell.j", "c.g.cell.w", "b.g.cell.w", "c.g.decode.j", "b.g.decode.j", "c.w_.cell.j", "b.w_.cell.j", "c.g.idle_w", "c.start_c", "b.start_c", "c.rate", "b.rate", "c.n"}

// numberOf draws an expression whose constants only multiply, so that its value is
// multiplied when its quantities are.
func numberOf(t *rapid.T, depth int) string {
	if depth == 0 {
		return rapid.SampledFrom(leaves).Draw(t, "leaf")
	}
	a := numberOf(t, rapid.IntRange(0, depth-1).Draw(t, "a"))
	if rapid.IntRange(0, 9).Draw(t, "constant") == 0 {
		return "(0.5 * " + a + ")"
	}
	b := partner(t, a, depth-1)
	switch rapid.IntRange(0, 6).Draw(t, "op") {
	case 0:
		return "(" + a + " + " + b + ")"
	case 1:
		return "(" + a + " - " + b + ")"
	case 2:
		return "(" + a + " * " + b + ")"
	case 3:
		return "(" + a + " / " + b + ")"
	case 4:
		return "(" + a + " < " + b + " ? " + a + " : " + b + ")"
	case 5:
		return "[" + a + ", " + b + "][1]"
	}
	return "{'k': " + b + "}['k']"
}

// partner is mostly the same of the other side, which has the same ids, and now and
// then anything.
func partner(t *rapid.T, a string, depth int) string {
	if rapid.IntRange(0, 3).Draw(t, "alike") == 0 {
		return numberOf(t, rapid.IntRange(0, depth).Draw(t, "b"))
	}
	return mirrored.Replace(a)
}

var mirrored = strings.NewReplacer("c.g.", "b.g.", "b.g.", "c.g.", "c.w_.", "b.w_.", "b.w_.", "c.w_.", "c.start", "b.start", "b.start", "c.start", "c.rate", "b.rate", "b.rate", "c.rate")

func truthOf(t *rapid.T) string {
	a := numberOf(t, rapid.IntRange(0, 2).Draw(t, "depth"))
	b := partner(t, a, 2)
	leaf := rapid.SampledFrom(leaves).Draw(t, "in a loop")
	switch rapid.IntRange(0, 3).Draw(t, "form") {
	case 0:
		return a + " <= " + b
	case 1:
		return "[" + leaf + ", " + partner(t, leaf, 0) + "].all(x, x > " + mirrored.Replace(leaf) + ")"
	case 2:
		return "[" + a + ", " + b + "].exists_one(x, x <= " + leaf + ") || " + b + " == " + a
	}
	return "[" + a + "].filter(x, x < " + leaf + ") == [" + b + "] || !(" + a + " > " + b + ")"
}

// What type-checks says the same in any units: joules in kilojoules, degrees in
// half degrees, each quantity for itself. A rule that mixes quantities does not.
func TestCheckedRulesKnowNoUnits(t *testing.T) {
	env := idEnv(t)
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rule := spelled.Replace(truthOf(t))
		p, err := env.Compile(rule)
		if err != nil {
			refused++
			return
		}
		accepted++
		one, other := map[string]float64{}, map[string]float64{}
		for _, id := range []string{"start", "gw", "gj", "gdw", "gdj", "gi", "ww", "wj", "wdw", "wdj", "wi"} {
			one[id], other[id] = 1, math.Ldexp(1, rapid.IntRange(-8, 8).Draw(t, id)) // exact in binary
		}
		a := measured(t, one)
		b := a
		b.Candidate, b.Baseline = scaled(a.Candidate, other), scaled(a.Baseline, other)
		x, y := p.Eval(a, nil), p.Eval(b, nil)
		if x.Value != y.Value || (x.Err == nil) != (y.Err == nil) {
			t.Fatalf("%s: %v (%v), in other units %v (%v)", rule, x.Value, x.Err, y.Value, y.Err)
		}
	})
	if accepted < 20 || refused < 10 {
		t.Errorf("%d rules were accepted, %d refused", accepted, refused)
	}
}

func scaled(m *metered, by map[string]float64) *metered {
	times := func(x *float64, id string) *float64 { y := *x * by[id]; return &y }
	of := func(w window, name string) window { return window{times(w.W, name+"w"), times(w.J, name+"j")} }
	g, w := m.Energy.GPU, m.Energy.Wall
	return &metered{Plain: m.Plain, StartC: m.StartC * by["start"], Energy: bases{
		GPU:  &base{of(g.Cell, "g"), of(g.Decode, "gd"), times(g.IdleW, "gi")},
		Wall: &base{of(w.Cell, "w"), of(w.Decode, "wd"), times(w.IdleW, "wi")},
	}}
}

func TestEmbeddedFieldsAreRead(t *testing.T) {
	p, err := idEnv(t).Compile("candidate.rate > 1.0 && candidate.name == 'x' && candidate.energy.gpu.cell.j < 3.0")
	if err != nil {
		t.Fatal(err)
	}
	j := 2.0
	v := sides{Candidate: &metered{Plain: Plain{Rate: 2, Name: "x"}, Energy: bases{GPU: &base{Cell: window{J: &j}}}}}
	if res := p.Eval(v, nil); !res.Holds() {
		t.Errorf("%+v", res)
	}
	if _, err := idEnv(t).Compile("candidate.Plain.rate > 1.0"); err == nil {
		t.Error("an embedded struct can be named")
	}
	for _, vars := range []any{twice{}, unnamed{}} {
		if _, err := New(vars); err == nil {
			t.Errorf("%T is taken", vars)
		}
	}
}

type twice struct {
	Plain `cel:"-"`
	Rate  float64 `cel:"rate"`
}

type unnamed struct{ Plain }

// FuzzIDs: no rule makes the check panic, its places lie in the rule, and a direct
// comparison of two ids never passes it.
func FuzzIDs(f *testing.F) {
	for _, s := range []string{"c.g.cell.j <= b.g.cell.j", "[c.g.cell.j].all(x, x < b.rate)", "{'a': c.g.cell.j}.a > 1.0", "size([c.g.cell.j]) > 1",
		"string(c.g.cell.j).size() > 1", "c.g.cell.j in [1.0]", "(n > 1.0 ? c.g.cell.j : 2.0) > 1.0", "[[c.g.cell.j]].all(x, x == [b.w_.cell.j])", "type(c.g.cell.j) == double"} {
		f.Add(spelled.Replace(s), byte(0), byte(1))
	}
	env := idEnv(f)
	f.Fuzz(func(t *testing.T, rule string, a, b byte) {
		if _, err := env.Compile(rule); err != nil {
			var ce *CompileError
			if !errors.As(err, &ce) {
				t.Fatal(err)
			}
			for _, p := range ce.Problems {
				if p.Offset < 0 || p.Offset > len(rule) || p.Msg == "" {
					t.Fatalf("%+v in a rule of %d bytes", p, len(rule))
				}
			}
		}
		x, y := leaves[int(a)%len(leaves)], leaves[int(b)%len(leaves)]
		_, err := env.Compile(spelled.Replace(fmt.Sprintf("%s < 2.0 * %s", x, y)))
		alike := x[1:] == y[1:] || !strings.Contains(x, ".g.") && !strings.Contains(x, "w_") && !strings.Contains(x, "start") && !strings.Contains(y, ".g.") && !strings.Contains(y, "w_") && !strings.Contains(y, "start")
		if (err == nil) != alike {
			t.Errorf("%s against %s: %v", x, y, err)
		}
	})
}
