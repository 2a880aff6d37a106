package promtext

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// asWritten leaves out how a value and a time stamp were spelt.
var asWritten = cmpopts.IgnoreFields(Sample{}, "Text", "Stamp")

func TestParseLine(t *testing.T) {
	inf := math.Inf(1)
	l := func(pairs ...string) (labels []Label) {
		for i := 0; i < len(pairs); i += 2 {
			labels = append(labels, Label{pairs[i], pairs[i+1]})
		}
		return labels
	}
	for _, c := range []struct {
		line string
		want Sample
		bad  string
	}{
		{line: `up 1`, want: Sample{Name: "up", Value: 1}},
		{line: `vllm:num_requests_running{engine="0"} 8.0`, want: Sample{Name: "vllm:num_requests_running", Labels: l("engine", "0"), Value: 8}},
		{line: "a{} \t -1.5e3", want: Sample{Name: "a", Value: -1500}},
		{line: `a{x="1",}2`, want: Sample{Name: "a", Labels: l("x", "1"), Value: 2}},
		{line: `a { x = "1" , y = "2" } 3`, want: Sample{Name: "a", Labels: l("x", "1", "y", "2"), Value: 3}},
		{line: `a_bucket{le="+Inf"} +Inf`, want: Sample{Name: "a_bucket", Labels: l("le", "+Inf"), Value: inf}},
		{line: `a -Inf`, want: Sample{Name: "a", Value: -inf}},
		{line: `a NaN`, want: Sample{Name: "a", Value: math.NaN()}},
		{line: `a 1 1395066363000`, want: Sample{Name: "a", Value: 1}},
		{line: `a_total 17.0 1520879607.789`, want: Sample{Name: "a_total", Value: 17}},
		{line: `a_bucket{le="0.1"} 8 # {trace_id="KOO5S4vxi0o"} 0.067`, want: Sample{Name: "a_bucket", Labels: l("le", "0.1"), Value: 8}},
		{line: `a_total 8 1520879607.789 # {} 0.67 1520879607.789`, want: Sample{Name: "a_total", Value: 8}},
		{line: `a{p="C:\\DIR\\",m="say \"hi\"\n",q="#}, x=",w="\w"} 1`, want: Sample{Name: "a", Labels: l("p", `C:\DIR\`, "m", "say \"hi\"\n", "q", "#}, x=", "w", `\w`), Value: 1}},
		{line: `a{m="naïve 日本"} 1`, want: Sample{Name: "a", Labels: l("m", "naïve 日本"), Value: 1}},
		{line: `{"my.metric",x="1"} 1`, want: Sample{Name: "my.metric", Labels: l("x", "1"), Value: 1}},
		{line: `a{"x.y"="1"} 1`, want: Sample{Name: "a", Labels: l("x.y", "1"), Value: 1}},

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
		got, err := Parse(c.line)
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%s: error %v, want one with %q", c.line, err, c.bad)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateNaNs(), asWritten); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.line, err, diff)
		}
	}
}

// What was written is kept: a counter may have more digits than a float64.
func TestParseKeepsDigits(t *testing.T) {
	got, err := Parse(`a{x=""} 9223372036854775793 1790000000000 # {} 1`)
	if err != nil || got.Text != "9223372036854775793" || got.Stamp != "1790000000000" || Get(got.Labels, "x") != "" || Get(got.Labels, "y") != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// text prints a sample as the format's escapes say.
func (s Sample) text() string {
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
		want := Sample{Name: rapid.StringMatching(`[a-z_:][a-z0-9_:]{0,8}`).Draw(t, "name"), Value: rapid.Float64().Draw(t, "value")}
		for i := range rapid.IntRange(0, 4).Draw(t, "labels") {
			want.Labels = append(want.Labels, Label{fmt.Sprintf("l%d", i), rapid.String().Draw(t, "label")})
		}
		got, err := Parse(want.text())
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), asWritten); err != nil || diff != "" {
			t.Fatalf("%s: %v\n%s", want.text(), err, diff)
		}
	})
}

// What can be read is read again from what it is printed as.
func FuzzParse(f *testing.F) {
	f.Add("a{x=\"\\\\\\\"\\n\",} +Inf 12 # {t=\"y\"} 1 2")
	f.Add("{\"b.c\"} NaN")
	f.Add("a{x=\"\\")
	f.Fuzz(func(t *testing.T, line string) {
		s, err := Parse(line)
		if err != nil {
			return
		}
		again, err := Parse(s.text())
		if diff := cmp.Diff(s, again, cmpopts.EquateNaNs(), asWritten); err != nil || diff != "" {
			t.Fatalf("%s: %v\n%s", s.text(), err, diff)
		}
		for _, l := range s.Labels {
			if !utf8.ValidString(l.Value) {
				t.Fatalf("%q", l.Value)
			}
		}
	})
}
