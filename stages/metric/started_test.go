package metric

import (
	"testing"
	"time"
)

func TestStarted(t *testing.T) {
	const day = int64(24 * time.Hour)
	for name, tt := range map[string]struct {
		starts []int64
		want   int64
		apart  string
	}{
		"none":            {nil, 0, ""},
		"not known":       {[]int64{0, 0}, 0, ""},
		"one":             {[]int64{1_700_000_000_999_999_999}, 1_700_000_000, ""},
		"the earliest":    {[]int64{0, 9e9, 7.5e9, 8e9}, 7, ""},
		"a day":           {[]int64{5e9 + day, 5e9}, 5, ""},
		"more than a day": {[]int64{5e9 + day + 1, 0, 5e9}, 5, "trials of the cell began 24 h apart"},
		"three days":      {[]int64{5e9, 5e9 + 3*day}, 5, "began 72 h apart"},
	} {
		var trials []Trial
		for _, at := range tt.starts {
			trials = append(trials, calm(Trial{Requests: two(), WallNS: 3e9, StartUnixNS: at}))
		}
		c := NewCell(at(2), trials)
		if c.StartedUnixS != tt.want || tt.apart == "" && c.Doubts != nil || tt.apart != "" && count2(c.Doubts, tt.apart) != 1 {
			t.Errorf("%s: %d %q", name, c.StartedUnixS, c.Doubts)
		}
	}
}
