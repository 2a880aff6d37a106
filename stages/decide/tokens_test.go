package decide

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/metric"
)

// Rules that hold tokens of both sides against each other decide nothing when
// the two tokenise differently; all others are as before.
func TestOtherTokens(t *testing.T) {
	const why = "other-tokens: the same text has other tokens on the other side, so counts of tokens and times and rates per token are not in one unit; " +
		"compare ttft_ms, e2e_ms or request_rate: bf16 and fp8 make 60 and 70 tokens of one text"
	pin := func(tokens int) *evidence.PinDoc {
		return &evidence.PinDoc{Probe: llm.TokenProbe{Tokens: tokens, Twice: 2 * tokens, By: "tokenize"}}
	}
	for _, c := range []struct {
		on, rule string
		blocked  bool
	}{
		{"load", "candidate.throughput_tok_s >= 0.5 * baseline.throughput_tok_s", true},
		{"load", "candidate.throughput_tok_s >= 1.0", false},
		{"load", "candidate.ttft_ms.p95 <= 1.1 * baseline.ttft_ms.p95", false},
		{"load", "candidate.request_rate >= baseline.request_rate", false},
		{"support", "candidate.output_tokens <= 1.1 * baseline.output_tokens", true},
		{"support", "candidate.truncation_rate <= baseline.truncation_rate", false},
		{"support", "lo > -0.02", false},
	} {
		for _, tokens := range []int{60, 70} {
			camp, rec := campaign(), fourCandidates(t)
			camp.Decide.Guards = map[string]spec.Guard{"g": {On: c.on, Rule: c.rule}}
			for name, n := range map[string]int{"bf16": 60, "fp8": tokens} {
				cand := rec.Candidates[name]
				cand.Pin = pin(n)
				rec.Candidates[name] = cand
			}
			for _, d := range Decide(PolicyOf(camp), rec, step.Digest{}).Candidates {
				if d.Candidate != "fp8" {
					continue
				}
				g := d.Guards[0]
				if blocked := c.blocked && tokens == 70; blocked != (g.Reason == why) || blocked != (g.Verdict == evidence.Undetermined) {
					t.Errorf("%s, %d tokens: %s: %s", c.rule, tokens, g.Verdict, g.Reason)
				}
			}
		}
	}
}

func TestMadeOfTokens(t *testing.T) {
	var got []string
	for _, d := range metric.Dictionary {
		if madeOfTokens(d.ID) {
			got = append(got, d.ID)
		}
	}
	want := "tpot_ms itl_ms effective_prefill_tok_s prefill_tok_s decode_tok_s decode_span_tok_s tok_per_sec prompt_tokens output_tokens " +
		"reasoning_tokens cached_tokens throughput_tok_s steady_tok_s peak_tok_s throughput_stddev effective_context_tokens std_dev_tok_s tok_per_sec_per_watt"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%s", s)
	}
}
