package metric

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCell(t *testing.T) {
	slow := golden(func(r *Request) { r.End, r.LastOutput, r.OutputTokens, r.ContentChunks = 300e6, 290e6, tok(40), 40 })
	c := NewCell(at(2), []Trial{
		{Requests: []Request{golden(), slow}, WallNS: 1e9, CPUNS: 100e6},
		{Requests: []Request{golden(), golden()}, WallNS: 1e9, CPUNS: 300e6},
	})
	if c.Attempted != 4 || c.Completed != 4 || c.Failed != 0 || c.WallS != 2 || c.Trials != 2 || len(c.PerTrial) != 2 {
		t.Errorf("%+v", c)
	}
	want(t, c.ThroughputTokS, 26, "")             // (4+40+4+4)/2
	want(t, c.PerTrial[0].ThroughputTokS, 44, "") // (4+40)/1
	want(t, c.PerTrial[1].ThroughputTokS, 8, "")
	want(t, c.ThroughputSD, 18, "") // 44 and 8: mean 26, each 18 away
	want(t, c.ThroughputCV, 100*18.0/26, "")
	want(t, c.RequestRate, 2, "")
	want(t, c.ClientOverhead, 0.2, "")
	if c.Stability != Unstable || c.PerTrial[0].Stability != Unknown || c.ClientBound {
		t.Errorf("%s %s %v", c.Stability, c.PerTrial[0].Stability, c.ClientBound)
	}
	if c.DecodeTokS.N != 1 || *c.DecodeTokS.P50 != 195 || *c.E2E.P50 != 200 || *c.E2E.P90 != 300 {
		t.Errorf("decode %+v e2e %+v", c.DecodeTokS, c.E2E) // (40-1)/0.2
	}
	if c.ITL.Reason != NoEventStamps {
		t.Errorf("itl %+v", c.ITL)
	}
}

func TestThroughputIsForWholeCells(t *testing.T) {
	failed := golden(func(r *Request) { r.FailureClass = "timeout" })
	broken := golden(func(r *Request) { r.Eligible = false })
	silent := golden(func(r *Request) { r.OutputTokens = nil })
	skewed := golden(func(r *Request) { r.FirstOutput = 150e6 })
	for name, c := range map[string]struct {
		rows   []Request
		wall   int64
		reason string
	}{
		"one failed":            {[]Request{golden(), failed}, 1e9, IncompleteCell},
		"failed and contract":   {[]Request{failed, broken}, 1e9, IncompleteCell},
		"one contract":          {[]Request{golden(), broken}, 1e9, ContractFailed},
		"one without usage":     {[]Request{golden(), silent}, 1e9, NoUsage},
		"one out of order":      {[]Request{golden(), skewed}, 1e9, IncompleteCell},
		"no wall":               {[]Request{golden()}, 0, ZeroDuration},
		"nothing was attempted": {nil, 1e9, NoRequests},
	} {
		cell := NewCell(at(1), []Trial{{Requests: c.rows, WallNS: c.wall}})
		if cell.ThroughputTokS.Value != nil || cell.ThroughputTokS.Reason != c.reason {
			t.Errorf("%s: %+v, want %s", name, cell.ThroughputTokS, c.reason)
		}
	}
	cell := NewCell(at(1), []Trial{{Requests: []Request{golden(), failed, broken, skewed}, WallNS: 1e9}})
	if cell.TTFT.N != 1 || cell.Failed != 3 || cell.Failures["timeout"] != 1 || cell.Failures[ContractFailed] != 1 || cell.Failures[InconsistentTime] != 1 {
		t.Errorf("failures must not be latencies: %+v", cell)
	}
}

func TestClientBound(t *testing.T) {
	one := []Request{golden()}
	for name, c := range map[string]struct {
		trials []Trial
		bound  bool
		reason string
	}{
		"busy":             {[]Trial{{Requests: one, WallNS: 1e9, CPUNS: 950e6}}, true, ""},
		"at the limit":     {[]Trial{{Requests: one, WallNS: 1e9, CPUNS: 900e6}}, false, ""},
		"in one trial":     {[]Trial{{Requests: one, WallNS: 1e9, CPUNS: 100e6}, {Requests: one, WallNS: 1e9, CPUNS: 950e6}}, true, ""},
		"not known":        {[]Trial{{Requests: one, WallNS: 1e9, CPUNS: -1}}, false, NoCPUTime},
		"not known in one": {[]Trial{{Requests: one, WallNS: 1e9, CPUNS: -1}, {Requests: one, WallNS: 1e9, CPUNS: 950e6}}, true, NoCPUTime},
	} {
		if cell := NewCell(at(1), c.trials); cell.ClientBound != c.bound || cell.ClientOverhead.Reason != c.reason {
			t.Errorf("%s: %v %+v", name, cell.ClientBound, cell.ClientOverhead)
		}
	}
}

func TestCellProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProtocol(t)
		var trials []Trial
		for range rapid.IntRange(0, 3).Draw(t, "trials") {
			trials = append(trials, Trial{Requests: rapid.SliceOfN(rapid.Custom(drawRequest), 0, 8).Draw(t, "rows"),
				WallNS: rapid.Int64Range(0, 9e9).Draw(t, "wall"), CPUNS: rapid.Int64Range(-1, 1e9).Draw(t, "cpu")})
		}
		c := NewCell(CellOptions{Concurrency: 3, Protocol: p}, trials)
		sum, n := 0, 0
		for _, k := range c.Failures {
			sum += k
		}
		for _, one := range c.PerTrial {
			n += one.TTFT.N
		}
		if c.Attempted != c.Completed+c.Failed || c.Failed != sum || c.TTFT.N != c.Completed || c.TTFT.N != n {
			t.Fatalf("counts: %+v", c)
		}
		if c.ThroughputTokS.Value != nil && c.Failed > 0 {
			t.Fatal("throughput of an incomplete cell")
		}
		if p := c.PeakTokS.Value; p != nil && *p < *c.ThroughputTokS.Value {
			t.Fatalf("peak %v below the mean %v", *p, *c.ThroughputTokS.Value)
		}
		if _, err := json.Marshal(c); err != nil { // fails on NaN and Inf
			t.Fatal(err)
		}
	})
}

// TestDictionaryIsWhole: every number of a Cell is defined, and every reason
// that a definition names is explained.
func TestDictionaryIsWhole(t *testing.T) {
	reasons := map[string]int{}
	for _, r := range Reasons {
		reasons[r.Code]++
		if reasons[r.Code] > 1 || r.Sentence == "" {
			t.Errorf("reason %q: twice or without a sentence", r.Code)
		}
	}
	seen := map[string]bool{}
	for _, d := range Dictionary {
		if seen[d.ID] || d.Formula == "" || d.Unit == "" || d.Version < 1 {
			t.Errorf("definition %q: twice or incomplete", d.ID)
		}
		seen[d.ID] = true
		for _, r := range d.NullWhen {
			if reasons[r] == 0 {
				t.Errorf("%s: reason %q is not in the table", d.ID, r)
			}
		}
	}
	cell := reflect.TypeFor[Cell]()
	for f := range cell.Fields() {
		id, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if d, ok := Lookup(id); !ok || d.Scope != scopeCell && d.Scope != scopeRequest {
			t.Errorf("Cell.%s has no definition under %q", f.Name, id)
		}
	}
	for _, d := range Dictionary {
		if (d.Scope == scopeCell || d.Scope == scopeRequest) && !hasField(cell, d.ID) {
			t.Errorf("%s is defined, and no cell has it", d.ID)
		}
	}
	for _, m := range rowMetrics {
		if d, ok := Lookup(m.id); !ok || d.Unit != m.unit {
			t.Errorf("%s: formula and dictionary differ", m.id)
		}
	}
	if _, ok := Lookup("no such metric"); ok {
		t.Error("Lookup invents")
	}
}

func hasField(t reflect.Type, id string) bool {
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == id {
			return true
		}
	}
	return false
}

// TestUnits: every value of a cell, null or not, carries its definition's unit.
func TestUnits(t *testing.T) {
	full := NewBench(at(1), []Trial{{Requests: []Request{golden()}, WallNS: 2e9, Server: &Server{}}})
	for _, c := range append(full, NewCell(at(0), nil)) {
		v := reflect.ValueOf(c)
		for f, x := range v.Fields() {
			id, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			d, _ := Lookup(id)
			switch x := x.Interface().(type) {
			case Value:
				if x.Unit != d.Unit || x.Value == nil && !slices.Contains(d.NullWhen, x.Reason) {
					t.Errorf("%s: %q %q, defined as %q %v", id, x.Unit, x.Reason, d.Unit, d.NullWhen)
				}
			case Dist:
				if x.Unit != d.Unit || x.N == 0 && x.Reason != NoRequests && !slices.Contains(d.NullWhen, x.Reason) {
					t.Errorf("%s: %q %q, defined as %q %v", id, x.Unit, x.Reason, d.Unit, d.NullWhen)
				}
			}
		}
	}
}

// TestReasonsOfFormulas: over every combination of a few values of each field,
// a formula gives exactly the reasons that its definition lists.
func TestReasonsOfFormulas(t *testing.T) {
	got := map[string]map[string]bool{}
	note := func(id, reason string) {
		if got[id] == nil {
			got[id] = map[string]bool{}
		}
		if reason != "" {
			got[id][reason] = true
		}
	}
	everyRequest(func(r Request) {
		row := Derive(r, CapacityV3)
		note("itl_ms", row.NoGaps)
		note("event_gap_ms", r.noGaps())
		for id, v := range row.Values {
			note(id, v.Reason)
		}
	})
	for id, reasons := range got {
		d, _ := Lookup(id)
		listed := slices.Sorted(slices.Values(d.NullWhen))
		if given := slices.Sorted(maps.Keys(reasons)); !slices.Equal(given, listed) {
			t.Errorf("%s gives %v, its definition lists %v", id, given, listed)
		}
	}
}

func everyRequest(do func(Request)) {
	tokens := []*int64{nil, tok(0), tok(1), tok(19), tok(22), tok(400)}
	chunks := []int{0, 10, 32}
	gaps := [][]int64{nil, {}, make([]int64, 19), {1, 1, 1, 1, -1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}
	ends := []int64{0, 50}
	prompts := []*int64{nil, tok(20)}
	for n := range len(tokens) * len(chunks) * len(gaps) * 1 << 9 {
		pick := func(of int) int { k := n % of; n /= of; return k }
		r := Request{Eligible: true, OutputTokens: tokens[pick(len(tokens))], ContentChunks: chunks[pick(len(chunks))], Gaps: gaps[pick(len(gaps))]}
		r.End = ends[pick(2)]
		r.LastOutput = r.End
		r.PromptTokens, r.CachedTokens = prompts[pick(2)], prompts[pick(2)]
		r.ServerPrefill, r.AskedPromptTokens, r.Planned = int64(pick(2)), 10*pick(2), int64(-pick(2))
		r.ReasoningChunks, r.Unstreamed, r.ReasoningTokens = pick(2), pick(2) == 1, r.CachedTokens
		r.Written = int64(pick(2))
		do(r)
	}
}

func TestValues(t *testing.T) {
	want(t, Of(math.NaN(), "ms"), 0, NotFinite)
	want(t, Ratio(1, 0, "ms", ZeroDuration), 0, ZeroDuration)
	want(t, Ratio(1, -1, "ms", ZeroDuration), 0, ZeroDuration)
	want(t, Ratio(1, math.Inf(1), "ms", ZeroDuration), 0, NotFinite)
	want(t, Ratio(3, 4, "share", NoRequests), 0.75, "")
}

func TestMarkdownIsCurrent(t *testing.T) {
	const path = "../../docs/metrics.md"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != Markdown() {
		t.Error("docs/metrics.md differs from the code; write it again with UPDATE=1 go test ./stages/metric")
	}
}
