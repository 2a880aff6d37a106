package scrape

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/promtext"
)

func TestParseKeepsTheRestAndSaysWhere(t *testing.T) {
	snap, err := parse([]byte("# HELP a said\r\n# TYPE a counter\r\na_total 1\r\n\r\nbroken line here\n# TYPE b\nb 2\n#comment\nc 3"))
	if err != nil {
		t.Fatal(err)
	}
	want := snapshot{
		Samples: []sample{{Name: "a_total", Value: 1, Text: "1"}, {Name: "b", Value: 2, Text: "2"}},
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
	long := strings.Repeat("x", promtext.MaxLabelValue)
	var many strings.Builder
	for i := range promtext.MaxLabels {
		fmt.Fprintf(&many, `l%d="",`, i)
	}
	for line, whole := range map[string]bool{
		`a{x="` + long + `"} 1`:                                        true,
		`a{x="` + long + `y"} 1`:                                       false,
		strings.Repeat("a", promtext.MaxName) + ` 1`:                   true,
		strings.Repeat("a", promtext.MaxName+1) + ` 1`:                 false,
		`a{` + strings.Repeat("l", promtext.MaxName+1) + `="1"} 1`:     false,
		`a{` + many.String() + `} 1`:                                   true,
		`a{` + many.String() + `more=""} 1`:                            false,
		`a 1 # {t="` + strings.Repeat("x", maxLine) + `"} 1`:           false,
		"# TYPE " + strings.Repeat("a", promtext.MaxName+1) + " gauge": false,
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
