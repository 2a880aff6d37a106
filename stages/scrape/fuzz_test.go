package scrape

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
)

// thin leaves a few lines of a text, for a fuzzer learns little from a long one.
func thin(body []byte) []byte {
	var out []byte
	for i, line := range bytes.SplitAfter(body, []byte("\n")) {
		if i%7 == 2 {
			out = append(out, line...)
		}
	}
	return out
}

func FuzzParse(f *testing.F) {
	for folder := range goldens {
		f.Add(thin(golden(f, folder)[1].Body))
	}
	f.Add([]byte("a{x=\"\\\\\\\"\\n\",} +Inf 12 # {t=\"y\"} 1 2\n{\"b.c\"} NaN\n# EOF"))
	f.Add([]byte("a{x=\"\\"))
	f.Fuzz(func(t *testing.T, body []byte) {
		snap, err := parse(body)
		if err != nil && len(body) <= maxBytes && len(snap.Samples) < maxSamples {
			t.Fatal(err)
		}
		if len(snap.Notes) > maxNotes || len(snap.Notes) > snap.Skipped {
			t.Fatalf("%d notes of %d skipped lines", len(snap.Notes), snap.Skipped)
		}
	})
}

// Whatever the looks hold: a value is finite and not negative where it is a
// count or a time, or it is null with a reason and has its unit.
func FuzzSummarise(f *testing.F) {
	for folder := range goldens {
		l := golden(f, folder)
		f.Add(thin(l[0].Body), thin(l[1].Body), thin(l[2].Body))
	}
	one := func(n string) []byte {
		return []byte("sglang:num_requests_total " + n + "\nsglang:queue_time_seconds_sum{a=\"1\"} " + n + "\nsglang:queue_time_seconds_count 1\n")
	}
	f.Add(one("1"), one("-3"), one("NaN"))
	f.Fuzz(func(t *testing.T, before, during, after []byte) {
		s, _, err := Summarise([]Look{{-1, PhaseBefore, before}, {1, PhaseDuring, during}, {2, PhaseAfter, after}}, "m")
		if (s == nil) == (err == nil) {
			t.Fatal(s, err)
		}
		if s == nil {
			return
		}
		fields := reflect.ValueOf(*s)
		for i := range fields.NumField() {
			v, ok := fields.Field(i).Interface().(metric.Value)
			if !ok {
				continue
			}
			name := fields.Type().Field(i).Name
			gauge := name == "KVUsePeak" || name == "RunningPeak" || name == "WaitingPeak"
			switch {
			case v.Unit == "" || (v.Value == nil) != (v.Reason != ""):
				t.Errorf("%s: %+v", name, v)
			case v.Value != nil && (math.IsNaN(*v.Value) || math.IsInf(*v.Value, 0) || *v.Value < 0 && !gauge):
				t.Errorf("%s is %v", name, *v.Value)
			}
		}
	})
}
