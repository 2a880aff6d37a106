package scrape

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestParseLine(t *testing.T) {
	inf := math.Inf(1)
	l := func(pairs ...string) (labels []label) {
		for i := 0; i < len(pairs); i += 2 {
			labels = append(labels, label{pairs[i], pairs[i+1]})
		}
		return labels
	}
	for _, c := range []struct {
		line string
		want sample
		bad  string
	}{
		{line: `up 1`, want: sample{"up", nil, 1}},
		{line: `vllm:num_requests_running{engine="0"} 8.0`, want: sample{"vllm:num_requests_running", l("engine", "0"), 8}},
		{line: "a{} \t -1.5e3", want: sample{"a", nil, -1500}},
		{line: `a{x="1",}2`, want: sample{"a", l("x", "1"), 2}},
		{line: `a { x = "1" , y = "2" } 3`, want: sample{"a", l("x", "1", "y", "2"), 3}},
		{line: `a_bucket{le="+Inf"} +Inf`, want: sample{"a_bucket", l("le", "+Inf"), inf}},
		{line: `a -Inf`, want: sample{"a", nil, -inf}},
		{line: `a NaN`, want: sample{"a", nil, math.NaN()}},
		{line: `a 1 1395066363000`, want: sample{"a", nil, 1}},
		{line: `a_total 17.0 1520879607.789`, want: sample{"a_total", nil, 17}},
		{line: `a_bucket{le="0.1"} 8 # {trace_id="KOO5S4vxi0o"} 0.067`, want: sample{"a_bucket", l("le", "0.1"), 8}},
		{line: `a_total 8 1520879607.789 # {} 0.67 1520879607.789`, want: sample{"a_total", nil, 8}},
		{line: `a{p="C:\\DIR\\",m="say \"hi\"\n",q="#}, x=",w="\w"} 1`, want: sample{"a", l("p", `C:\DIR\`, "m", "say \"hi\"\n", "q", "#}, x=", "w", `\w`), 1}},
		{line: `a{m="naïve 日本"} 1`, want: sample{"a", l("m", "naïve 日本"), 1}},
		{line: `{"my.metric",x="1"} 1`, want: sample{"my.metric", l("x", "1"), 1}},
		{line: `a{"x.y"="1"} 1`, want: sample{"a", l("x.y", "1"), 1}},

		{line: `404 page not found`, bad: "no metric name"},
		{line: `a`, bad: "no value"},
		{line: `a{x="1"}`, bad: "no value"},
		{line: `a one`, bad: `value "one" is not a number`},
		{line: `a 0x10`, bad: "is not a number"},
		{line: `a 1_000`, bad: "is not a number"},
		{line: `a 1e999`, bad: "is not a number"},
		{line: `a 1 soon`, bad: `time stamp "soon" is not a number`},
		{line: `a 1 NaN`, bad: "time stamp"},
		{line: `a 1 2 3`, bad: `unexpected "3"`},
		{line: `a 1 # trace`, bad: "an exemplar begins with {"},
		{line: `a-b 1`, bad: `unexpected "-b 1" after the metric name`},
		{line: `<html>`, bad: "no metric name"},
		{line: `{x="1"} 1`, bad: "no metric name"},
		{line: `{"a","b"} 1`, bad: "expected = after"},
		{line: `a{x} 1`, bad: "expected = after"},
		{line: `a{x=1} 1`, bad: "expected a quote"},
		{line: `a{x="1" y="2"} 1`, bad: "expected , or }"},
		{line: `a{x="1"`, bad: "expected , or }"},
		{line: `a{x="1`, bad: "no closing quote"},
		{line: `a{x="1\`, bad: "no closing quote"},
		{line: `a{,} 1`, bad: "no label name"},
		{line: `a{x="1",x="2"} 1`, bad: "stands twice"},
		{line: "a{x=\"\xff\"} 1", bad: "not UTF-8"},
	} {
		got, err := parseSample(c.line)
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%s: error %v, want one with %q", c.line, err, c.bad)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateNaNs()); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.line, err, diff)
		}
	}
}

func TestParseKeepsTheRestAndSaysWhere(t *testing.T) {
	snap, err := parse([]byte("# HELP a said\r\n# TYPE a counter\r\na_total 1\r\n\r\nbroken line here\n# TYPE b\nb 2\n#comment\nc 3"))
	if err != nil {
		t.Fatal(err)
	}
	want := snapshot{
		Samples: []sample{{Name: "a_total", Value: 1}, {Name: "b", Value: 2}},
		Types:   map[string]string{"a": "counter"},
		Notes: []note{
			{5, `value "line" is not a number`},
			{6, "TYPE needs a metric name and a type"},
			{9, "the text ends within the line: it was cut off"},
		},
		Skipped: 3,
	}
	if diff := cmp.Diff(want, snap); diff != "" {
		t.Error(diff)
	}
	if got := snap.Notes[0].String(); got != `line 5: value "line" is not a number` {
		t.Error(got)
	}
}

func TestParseOpenMetricsEnds(t *testing.T) {
	text := "# TYPE r histogram\n# UNIT r seconds\nr_bucket{le=\"+Inf\"} 2.0 # {trace_id=\"x\"} 0.5\nr_count 2\nr_sum 0.75\nr_created 1.7e9\n# EOF"
	snap, err := parse([]byte(text))
	if err != nil || snap.Skipped != 0 || len(snap.Samples) != 4 || snap.Samples[2].Value != 0.75 || snap.Types["r"] != "histogram" {
		t.Errorf("%+v, %v", snap, err)
	}
	snap, _ = parse([]byte(text + "\nlate 1\n"))
	if want := []note{{8, "text after # EOF"}}; len(snap.Samples) != 4 || !cmp.Equal(want, snap.Notes) {
		t.Errorf("%+v", snap)
	}
}

func TestParseBounds(t *testing.T) {
	_, err := parse(make([]byte, maxBytes+1))
	if !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
	snap, err := parse([]byte(strings.Repeat("a 1\n", maxSamples+1)))
	if !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "line 200001") || len(snap.Samples) != maxSamples {
		t.Errorf("%d samples, %v", len(snap.Samples), err)
	}
	long := strings.Repeat("x", maxLabelValue)
	var many strings.Builder
	for i := range maxLabels {
		fmt.Fprintf(&many, `l%d="",`, i)
	}
	for line, whole := range map[string]bool{
		`a{x="` + long + `"} 1`:                               true,
		`a{x="` + long + `y"} 1`:                              false,
		strings.Repeat("a", maxName) + ` 1`:                   true,
		strings.Repeat("a", maxName+1) + ` 1`:                 false,
		`a{` + strings.Repeat("l", maxName+1) + `="1"} 1`:     false,
		`a{` + many.String() + `} 1`:                          true,
		`a{` + many.String() + `more=""} 1`:                   false,
		`a 1 # {t="` + strings.Repeat("x", maxLine) + `"} 1`:  false,
		"# TYPE " + strings.Repeat("a", maxName+1) + " gauge": false,
	} {
		snap, err := parse([]byte(line + "\nb 2\n"))
		if err != nil || (snap.Skipped == 0) != whole || snap.Samples[len(snap.Samples)-1].Name != "b" {
			t.Errorf("%.20s... (%d bytes): skipped %d, %v", line, len(line), snap.Skipped, err)
		}
	}
	snap, _ = parse([]byte(strings.Repeat("?\n", 1000)))
	if len(snap.Notes) != maxNotes || snap.Skipped != 1000 {
		t.Errorf("%d notes, %d skipped", len(snap.Notes), snap.Skipped)
	}
}

// text prints a sample as the format's escapes say.
func (s sample) text() string {
	var b strings.Builder
	b.WriteString("{" + quote(s.Name))
	for _, l := range s.Labels {
		b.WriteString("," + quote(l.Name) + "=" + quote(l.Value))
	}
	return b.String() + "} " + strconv.FormatFloat(s.Value, 'g', -1, 64)
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func TestParseReadsWhatIsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := sample{Name: rapid.StringMatching(`[a-z_:][a-z0-9_:]{0,8}`).Draw(t, "name"), Value: rapid.Float64().Draw(t, "value")}
		for i := range rapid.IntRange(0, 4).Draw(t, "labels") {
			want.Labels = append(want.Labels, label{fmt.Sprintf("l%d", i), rapid.String().Draw(t, "label")})
		}
		got, err := parseSample(want.text())
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); err != nil || diff != "" {
			t.Fatalf("%s: %v\n%s", want.text(), err, diff)
		}
	})
}
