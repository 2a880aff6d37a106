package publish

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// failer is a test or a property.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// wellFormed reads a page as XML: every tag that is opened is closed in order.
func wellFormed(t failer, page []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Entity = xml.HTMLEntity
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("report.html: %v", err)
			return
		}
	}
}

var (
	position = regexp.MustCompile(` (?:x|x1|x2|y1|y2|y|width)="(-?[0-9.e+-]+)%"`)
	notFinal = regexp.MustCompile(`NaN|[+-−]Inf|%!|<no value>|ZgotmplZ`)
)

// plotted checks that nothing is drawn outside and no number went wrong.
func plotted(t failer, readme, report []byte) {
	t.Helper()
	for _, m := range position.FindAllSubmatch(report, -1) {
		if x, err := strconv.ParseFloat(string(m[1]), 64); err != nil || x < 0 || x > 100 {
			t.Errorf("position %s", m[0])
		}
	}
	for name, b := range map[string][]byte{"README.md": readme, "report.html": report} {
		if m := notFinal.Find(b); m != nil {
			t.Errorf("%s holds %q", name, m)
		}
	}
	wellFormed(t, report)
	tables(t, readme)
}

// tables checks that all rows of a table have as many cells as its head.
func tables(t failer, readme []byte) {
	t.Helper()
	head := 0
	for line := range strings.Lines(string(readme)) {
		if !strings.HasPrefix(line, "|") {
			head = 0
			continue
		}
		cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if head == 0 {
			head = cells
		}
		if cells != head {
			t.Errorf("%d cells, the head of the table has %d: %s", cells, head, line)
		}
	}
}

func TestPageIsWhole(t *testing.T) {
	readme, report := rendered(t)
	plotted(t, readme, report)
	for _, must := range []string{"<meta name=\"viewport\"", "screen and (prefers-color-scheme:dark)", "@media print"} {
		if !bytes.Contains(report, []byte(must)) {
			t.Errorf("report.html lacks %s", must)
		}
	}
	// No script, nothing fetched, no address but the example one.
	for _, never := range []string{"<script", "<link", "<img", "<iframe", "@import", "url(", " src=", "http-equiv=\"refresh"} {
		if bytes.Contains(report, []byte(never)) {
			t.Errorf("report.html holds %q", never)
		}
	}
	for _, m := range regexp.MustCompile(`https?://[^\s/:"<]+`).FindAllString(string(report)+string(readme), -1) {
		if m != "http://127.0.0.1" {
			t.Errorf("address %s", m)
		}
	}
	for _, m := range regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(string(report), -1) {
		if !strings.HasPrefix(m[1], "#v-") {
			t.Errorf("link to %s", m[1])
		}
	}
}

// The fixture has the text in prompts, answers, checks and score reasons.
func TestNoItemText(t *testing.T) {
	rec, _ := fixture(t)
	if !bytes.Contains(encode(t, rec), []byte(secretText)) {
		t.Fatal("the fixture does not hold the text")
	}
	readme, report := rendered(t)
	if bytes.Contains(readme, []byte(secretText)) || bytes.Contains(report, []byte(secretText)) {
		t.Error("a rendering holds the text of an item")
	}
}

// edges are records that are unlike the usual one.
var edges = map[string]func(testing.TB, *evidence.Record){
	"usual": func(testing.TB, *evidence.Record) {},
	"nothing measured": func(_ testing.TB, r *evidence.Record) {
		r.Comparisons, r.Noise, r.Evidence, r.Date = nil, nil, nil, ""
		for name := range r.Candidates {
			r.Candidates[name] = evidence.CandidateRecord{Role: r.Candidates[name].Role}
		}
	},
	"no candidates": func(_ testing.TB, r *evidence.Record) { *r = evidence.Record{Schema: RecordSchema, Campaign: "x"} },
	"baseline refused": func(_ testing.TB, r *evidence.Record) {
		r.Comparisons, r.Noise = nil, nil
		r.Candidates["bf16"] = evidence.CandidateRecord{Role: "baseline", Preflight: &evidence.PreflightDoc{}, Stopped: "preflight health: no answer"}
	},
	"no noise floor": func(_ testing.TB, r *evidence.Record) { r.Noise = nil },
	"undefined intervals": func(t testing.TB, r *evidence.Record) {
		r.Comparisons[0] = comparisonOf("awq", compared(t, map[string]table{"one": {1, 0, 0, 0}, "two": {2, 1, 0, 0}}), 0)
		r.Comparisons[0].CandidateScores.Strata["lost"] = evidence.ScoreGroup{Items: 3, Mean: metric.Value{Reason: "no-answer"}}
		r.Comparisons[0].Stats.Overall = stats.Summary{Reason: stats.ReasonNoItems}
	},
	"zero intervals": func(t testing.TB, r *evidence.Record) {
		r.Noise = nil
		for i := range r.Comparisons {
			c := &r.Comparisons[i]
			for name, s := range c.Stats.Strata {
				s.Delta, s.Lo, s.Hi = ptr(0), ptr(0), ptr(0)
				c.Stats.Strata[name] = s
			}
			c.Stats.Overall.Delta, c.Stats.Overall.Lo, c.Stats.Overall.Hi = ptr(0), ptr(0), ptr(0)
		}
	},
	"huge intervals": func(t testing.TB, r *evidence.Record) {
		s := &r.Comparisons[0].Stats.Overall
		s.MeanA, s.MeanB, s.Delta, s.Lo, s.Hi = ptr(1e30), ptr(-1e30), ptr(-2e30), ptr(-9e30), ptr(5e30)
	},
	"one wide stratum": func(t testing.TB, r *evidence.Record) {
		r.Comparisons[1] = comparisonOf("fp8", compared(t, map[string]table{"arithmetic": {900, 5, 6, 96}, "extract": {900, 3, 4, 34}, "tiny": {9, 4, 0, 0}}), 0)
	},
	"one bad candidate": func(t testing.TB, r *evidence.Record) {
		r.Comparisons[2] = comparisonOf("int4", compared(t, map[string]table{"arithmetic": {900, 362, 12, 96}, "extract": {900, 209, 6, 34}, "tool-call": {640, 221, 14, 73}}), 0)
	},
	"forty strata": func(t testing.TB, r *evidence.Record) {
		strata := map[string]table{}
		for i := range 40 {
			strata[fmt.Sprintf("stratum-%02d", i)] = table{60 + 7*i, i % 5, i % 4, 6}
		}
		r.Comparisons[0] = comparisonOf("awq", compared(t, strata), 0)
	},
	"long names": func(t testing.TB, r *evidence.Record) {
		long := strings.Repeat("a-long-name-", 5)
		r.Comparisons[0] = comparisonOf("awq", compared(t, map[string]table{long: {900, 5, 6, 96}, strings.Repeat("x", 200): {200, 5, 6, 9}}), 0)
		r.Question = strings.Repeat("Is it so? ", 30)
		r.Candidates[long] = r.Candidates["fp8"]
		r.Labels[long] = nil
	},
	"load without values": func(_ testing.TB, r *evidence.Record) {
		for _, c := range r.Candidates {
			for wl := range c.Load {
				for i := range c.Load[wl].Cells {
					n := c.Load[wl].Cells[i].Concurrency
					none := metric.Value{Reason: metric.NoUsage}
					c.Load[wl].Cells[i] = metric.Cell{Name: c.Load[wl].Cells[i].Name, Concurrency: n, TTFT: metric.Dist{Reason: metric.NoRequests}, ThroughputTokS: none, ThroughputSD: none, ClientBound: true}
				}
			}
		}
	},
}

func TestEdges(t *testing.T) {
	for name, edit := range edges {
		t.Run(name, func(t *testing.T) {
			rec, _ := fixture(t)
			edit(t, rec)
			readme, report, err := render(rec, decisionOf(t, rec))
			if err != nil {
				t.Fatal(err)
			}
			plotted(t, readme, report)
		})
	}
}

// Whatever a text holds, it is text: the page stays well-formed, no tag is
// added, and the tables keep their columns.
func TestHostileTexts(t *testing.T) {
	pieces := []string{"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "|", "`", "``", "\n", "\n\n## x", "](http://", "[a", "&lt;", "é", "{{.}}", `\`, "*", "a b", "\x00", "𝛿"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, "text"), "")
		rec := &evidence.Record{Campaign: "x", Question: text, Reward: text, Kind: text, Owner: text, Baseline: "b",
			Labels: map[string][]string{"c": {text}}, Unknown: []evidence.Unknown{{Field: text, Reason: text}},
			Evidence: []evidence.EvidenceFile{{Step: text, Output: text}},
			Research: &evidence.Research{ObservedOn: "2026-11-20", Shortlist: []string{text}, Sources: []evidence.ResearchSource{{ID: text, Kind: text, URL: text, Publisher: text, PublishedOn: text, Age: text, Role: text, Reason: text,
				Claims: []evidence.Prior{{Candidate: text, Metric: text, Unit: text, Role: text, Uncertain: []string{text}, Unmeasured: text},
					{Candidate: text, Metric: "x", Measured: []evidence.ClaimMeasured{{Workload: text, Cell: text, Metric: text, Unit: text, Reason: text, Doubt: text}}}}}}},
			Candidates: map[string]evidence.CandidateRecord{"b": {Pin: &evidence.PinDoc{Fields: []evidence.PinField{{Name: text, Observed: text}}}}, "c": {Stopped: text}}}
		dec := &evidence.Decision{Verdict: evidence.Fail, Next: []string{text}, Candidates: []evidence.CandidateDecision{{Candidate: "c", Why: text, Label: text, Worst: text,
			Guards: []evidence.GuardResult{{Guard: text, On: text, Stratum: text, Rule: text, Explain: text, Reason: text, Warnings: []string{text}}},
			Priors: []evidence.GuardResult{{Guard: text, On: text, Cell: text, Rule: text, Explain: text, Reason: text, Warnings: []string{text}}}}}}
		readme, report, err := render(rec, dec)
		if err != nil {
			t.Fatal(err)
		}
		if tag := regexp.MustCompile(`<script|<img`).Find(report); tag != nil {
			t.Errorf("the page has a tag %s", tag)
		}
		tables(t, readme)
		wellFormed(t, report)
	})
}

// A candidate that is far worse than the others is drawn in full, on an axis
// of its own; a small stratum that is wide is cut.
func TestAxes(t *testing.T) {
	for name, want := range map[string][]bool{"usual": {false, false, false}, "one bad candidate": {false, false, true}, "one wide stratum": {false, false, false}} {
		rec, _ := fixture(t)
		edges[name](t, rec)
		p := newPage(rec, decisionOf(t, rec))
		cut := 0
		for i, c := range p.Quality[0].Comparisons {
			if c.OwnAxis != want[i] || c.Rows[0].Plot.CutLeft || c.Rows[0].Plot.PointOut {
				t.Errorf("%s: %s: own axis %v, overall row %+v", name, c.Candidate, c.OwnAxis, c.Rows[0].Plot)
			}
			for _, r := range c.Rows {
				if r.Plot.CutLeft {
					cut++
				}
			}
		}
		if (cut > 0) != (name == "one wide stratum") {
			t.Errorf("%s: %d rows are cut", name, cut)
		}
	}
}

func TestUnknownIsGrouped(t *testing.T) {
	rec, dec := fixture(t)
	want := []unknownView{
		{Reason: "neither declared nor observed", Fields: []unknownFields{{"every candidate", []string{"speculative"}}, {"fp8", []string{"model.revision"}}}},
		{Reason: "no meter ran beside the campaign and the endpoint does not say", Fields: []unknownFields{{"", []string{"hardware.driver", "hardware.gpu"}}}},
	}
	if diff := cmp.Diff(want, newPage(rec, dec).Unknown); diff != "" {
		t.Error(diff)
	}
}

func TestFindingRunner(t *testing.T) {
	rec, dec := fixture(t)
	job := &fakeJob{inputs: map[string][]byte{"record": encode(t, rec), "decision": encode(t, dec)}}
	if err := (FindingRunner{}).Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	readme, report := rendered(t)
	for name, want := range map[string]struct {
		content   []byte
		mediaType string
	}{evidence.OutReadme: {readme, "text/markdown"}, evidence.OutReport: {report, "text/html"}} {
		got := job.outputs[name]
		if got == nil || !got.closed || got.mediaType != want.mediaType || !bytes.Equal(got.Bytes(), want.content) {
			t.Errorf("%s: differs from the rendering, or is not closed", name)
		}
	}
	delete(job.inputs, "decision")
	if err := (FindingRunner{}).Run(context.Background(), job); !errors.Is(err, step.ErrNoInput) {
		t.Errorf("without a decision: %v", err)
	}
}

func TestBounds(t *testing.T) {
	for rule, want := range map[string][]float64{
		"lo > -0.02": {-0.02}, "lo>=-2e-2": {-0.02}, "-0.02 < lo": {-0.02}, "lo > -0.02 && hi < 0.05": {-0.02, 0.05},
		"tango.lo > -0.01": {-0.01}, "delta > 0.0": {0}, "lo > -0.02 || n < 5.0": nil, "candidate.mean > 0.9": nil,
		"lo > noise.lo": nil, "lo > -0.02 && candidate.mean > 0.9": nil, "lo > -0.02 - 0.01": nil, "n > 100.0": nil, "": nil,
	} {
		var got []float64
		for _, b := range boundsOf(evidence.GuardResult{Rule: rule}) {
			got = append(got, b.At)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %v, want %v", rule, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	pp, raw := scale{percent: true}, scale{}
	for got, want := range map[string]string{
		pp.diff(ptr(-0.0123)): "−1.23", pp.diff(ptr(0.00001)): "0.00", pp.diff(ptr(-0.00001)): "0.00", pp.diff(ptr(1)): "+100.00",
		pp.score(ptr(0.9133)): "91.3", pp.score(nil): none, raw.diff(ptr(-1234567)): "−1.23e+06", raw.score(ptr(3)): "3",
		pp.interval(ptr(-0.02), ptr(0.01)): "[−2.00, +1.00]", pp.interval(nil, ptr(1)): none,
		quantity(0): "0", quantity(0.0321): "0.0321", quantity(9.876): "9.88", quantity(54.62): "54.6", quantity(1234.5): "1,234", quantity(1e15): "1e+15",
		thousands(1234567): "1,234,567", thousands(-1234): "−1,234", thousands(12): "12",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Every value that is asked for lies on the axis, and the ticks rise.
func TestAxisCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Float64Range(-1e30, 1e30)).Draw(t, "values")
		a := newAxis(values, 100, true)
		for _, x := range values {
			if at := a.at(x); !a.inside(x) || at < 0 || at > 100 {
				t.Fatalf("%v lies outside [%v, %v]", x, a.Min, a.Max)
			}
		}
		if len(a.Ticks) < 2 || len(a.Ticks) > 9 {
			t.Fatalf("%d ticks", len(a.Ticks))
		}
		for i := 1; i < len(a.Ticks); i++ {
			if a.Ticks[i].At <= a.Ticks[i-1].At || a.Ticks[i].Label == a.Ticks[i-1].Label {
				t.Fatalf("ticks %v", a.Ticks)
			}
		}
	})
}
