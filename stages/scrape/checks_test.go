package scrape

import (
	"testing"

	"github.com/cupel-dev/cupel/stages/metric"
)

func TestWarmCache(t *testing.T) {
	for _, c := range []struct {
		share metric.Value
		want  string
	}{
		{metric.Of(0, "share"), ""},
		{metric.Of(0.01, "share"), ""},
		{null("share"), ""},
		{metric.Of(0.0104, "share"), "1.04 % of the prompt tokens were found in the engine's cache, above the 1 % that prompts meant to be new may have: the cell measured a warm cache"},
		{goldens["sglang"].PrefixHitShare, "1.5 % of the prompt tokens were found in the engine's cache, above the 1 % that prompts meant to be new may have: the cell measured a warm cache"},
	} {
		if warm, sentence := WarmCache(c.share); sentence != c.want || warm != (c.want != "") {
			t.Errorf("%v: %v %q", c.share, warm, sentence)
		}
	}
}

func TestUsageCheck(t *testing.T) {
	for _, c := range []struct {
		client int64
		server metric.Value
		ratio  metric.Value
		within bool
		doubt  bool
	}{
		{100, metric.Of(100, "tokens"), metric.Of(1, "ratio"), true, false},
		{102, metric.Of(100, "tokens"), metric.Of(1.02, "ratio"), true, false},
		{98, metric.Of(100, "tokens"), metric.Of(0.98, "ratio"), true, false},
		{103, metric.Of(100, "tokens"), metric.Of(1.03, "ratio"), false, true},
		{97, metric.Of(100, "tokens"), metric.Of(0.97, "ratio"), false, true},
		{0, metric.Of(100, "tokens"), metric.Of(0, "ratio"), false, true},
		{100, metric.Of(0, "tokens"), metric.Null(metric.NoOutput, "ratio"), false, false},
		{100, metric.Null(CounterReset, "tokens"), metric.Null(CounterReset, "ratio"), false, false},
	} {
		ratio, within, sentence := UsageCheck(c.client, c.server)
		diff(t, c.ratio, ratio)
		if within != c.within || (sentence != "") != c.doubt {
			t.Errorf("%d of %v: within %v, %q", c.client, c.server, within, sentence)
		}
	}
}
