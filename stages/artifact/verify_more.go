package artifact

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

func verifyPreflight(d node, v *Verification) {
	all := true
	for _, r := range d.get("results").list() {
		ok, _ := r.get("passed").v.(bool)
		all = all && ok
	}
	errors := len(d.get("evidence_policy", "errors").list())
	if stated, ok := d.get("passed").v.(bool); ok {
		v.Same("passed", stated == (all && errors == 0), "the results and the policy's errors say otherwise")
	}
}

// verifyContext recounts the buckets of a context curve.
func verifyContext(d node, v *Verification) {
	sum := d.get("summary")
	for i, b := range sum.get("buckets").list() {
		at := fmt.Sprintf("summary.buckets[%d]", i)
		samples := b.get("samples").list()
		if len(samples) == 0 {
			continue
		}
		passed, done := 0.0, 0.0
		for _, s := range samples {
			if ok, _ := s.get("passed").v.(bool); ok {
				passed++
			}
			if ok, _ := s.get("completed").v.(bool); ok {
				done++
			}
		}
		n := float64(len(samples))
		v.number(at+".sample_count", b.get("sample_count"), is(n), 0)
		v.number(at+".passed_count", b.get("passed_count"), is(passed), 0)
		v.number(at+".completed_count", b.get("completed_count"), is(done), 0)
		v.number(at+".pass_rate", b.get("pass_rate"), is(passed/n), rounding)
		v.number(at+".completion_rate", b.get("completion_rate"), is(done/n), rounding)
		v.number(at+".latency_ms.mean", b.get("latency_ms", "mean"), meanNumber(b.get("latency_ms", "observations").list()), rounding)
	}
	if a := sum.get("attempted").number(); a.has() && *a.Value > 0 {
		p := sum.get("passed").number()
		v.number("summary.pass_rate", sum.get("pass_rate"), meanOf(p, a), rounding)
	}
	if len(d.get("stages").list()) > 0 {
		v.not("the files of the stages are named by digest and lie elsewhere")
	}
}

func meanNumber(list []node) Number {
	sum := 0.0
	for _, n := range list {
		x, ok := n.num()
		if !ok {
			return unknown[float64]("an observation is no number")
		}
		sum += x
	}
	if len(list) == 0 {
		return unknown[float64]("there is no observation")
	}
	return is(sum / float64(len(list)))
}

// hand is how far the means of a hand-written comparison may be off: they are
// rounded.
const hand = 1e-3

// verifyComparison recomputes a hand-written A/B from the artifacts that it
// names by digest: their checksums, the means of their runs, the deltas and the
// decision.
func verifyComparison(d node, v *Verification, named Named) {
	sides := map[string]map[string]map[string]Number{}
	for _, side := range d.names() {
		for _, lane := range d.get(side).names() {
			l := d.get(side, lane)
			if !l.get("means").isObject() || !l.get("artifacts").isList() {
				continue
			}
			means := laneMeans(side+"."+lane, l, v, named)
			if means == nil {
				continue
			}
			if sides[side] == nil {
				sides[side] = map[string]map[string]Number{}
			}
			sides[side][lane] = means
		}
	}
	base, other := sides["default"], sides["tuned"]
	if base == nil || other == nil {
		v.not("deltas and decision: the artifacts of both sides are not all there")
		return
	}
	deltas := map[string]Number{}
	for _, name := range d.get("deltas_percent").names() {
		found, ok := delta(name, base, other)
		if !ok {
			v.not("deltas_percent.%s: what it is the difference of is not clear", name)
			continue
		}
		deltas[name] = found
		v.rounded("deltas_percent."+name, d.get("deltas_percent", name), found)
	}
	verifyDecision(d, v, deltas)
}

// rounded holds a number that was rounded to three decimals.
func (v *Verification) rounded(name string, stated node, found Number) {
	if s, ok := stated.num(); ok && found.has() && math.Abs(s-*found.Value) <= 0.00051 {
		v.follows()
		return
	}
	v.number(name, stated, found, 0)
}

// laneMeans checks the artifacts of one lane and recomputes its means. nil =
// not all of them are there.
func laneMeans(at string, lane node, v *Verification, named Named) map[string]Number {
	runs := laneRuns(at, lane, v, named)
	if runs == nil {
		return nil
	}
	out := map[string]Number{}
	for _, name := range lane.get("means").names() {
		out[name] = meanNumber(allAt(runs, "metrics", name))
		v.number(at+".means."+name, lane.get("means", name), out[name], hand)
	}
	v.number(at+".repetitions", lane.get("repetitions"), is(float64(len(runs))), 0)
	v.number(at+".requests_total", lane.get("requests_total"), sumNumber(allAt(runs, "requests")), 0)
	v.number(at+".failures_total", lane.get("failures_total"), sumNumber(allAt(runs, "failed")), 0)
	return out
}

// allAt is the value at a path of each document.
func allAt(docs []node, path ...string) (out []node) {
	for _, d := range docs {
		out = append(out, d.get(path...))
	}
	return out
}

func sumNumber(list []node) Number {
	return scaled(meanNumber(list), float64(len(list)))
}

// laneRuns finds the artifacts of a lane by their digests, nil when one is not
// there.
func laneRuns(at string, lane node, v *Verification, named Named) (runs []node) {
	for i, a := range lane.get("artifacts").list() {
		name := fmt.Sprintf("%s.artifacts[%d].sha256", at, i)
		digest, err := step.ParseDigest(a.get("sha256").str())
		if err != nil {
			v.wrong(name, "malformed", Number{}, "it is no SHA-256")
			return nil
		}
		content := []byte(nil)
		if named != nil {
			content = named(digest)
		}
		if content == nil {
			v.not("%s: %s is not beside the comparison", at, plain(lastOf(a.get("path").str())))
			return nil
		}
		v.Same(name, true, "")
		doc, _, err := parse(content)
		if err != nil {
			return nil
		}
		runs = append(runs, node{v: doc})
	}
	return runs
}

func lastOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// delta recomputes a difference in percent by its name: lane, metric, and
// whether an improvement is meant, which is positive when a latency falls.
func delta(name string, base, other map[string]map[string]Number) (Number, bool) {
	lane, rest, _ := strings.Cut(name, "_")
	id, sign := "", 1.0
	switch {
	case strings.HasSuffix(rest, "_improvement"):
		id, sign = latency(strings.TrimSuffix(rest, "_improvement")), -1
	case strings.HasSuffix(rest, "_regression"):
		id = latency(strings.TrimSuffix(rest, "_regression"))
	case rest == "throughput":
		id = "throughput_tok_s"
	case rest == "decode_throughput":
		id = "decode_tok_s_p50"
	}
	a, b := base[lane][id], other[lane][id]
	if !a.has() || !b.has() || *a.Value == 0 {
		return Number{}, false
	}
	return is(sign * 100 * (*b.Value - *a.Value) / *a.Value), true
}

// latency is where e2e_p95 stands: e2e_p95_ms.
func latency(name string) string { return name + "_ms" }

// verifyDecision holds the decision against the thresholds.
func verifyDecision(d node, v *Verification, deltas map[string]Number) {
	gain, ok := d.get("thresholds", "primary_minimum_improvement_percent").num()
	loss, ok2 := d.get("thresholds", "protected_maximum_regression_percent").num()
	primary, protected := deltas["primary_throughput"], deltas["protected_e2e_p95_regression"]
	if !ok || !ok2 || !primary.has() || !protected.has() {
		v.not("decision: its thresholds or the numbers that they are about are not there")
		return
	}
	adopted := *primary.Value >= gain && *protected.Value <= loss
	said := d.get("decision").str()
	v.Same("decision", (said == "rejected") == !adopted, fmt.Sprintf("primary throughput %+.3f %% against %+g %%, protected e2e p95 %+.3f %% against %g %%: %s", *primary.Value, gain, *protected.Value, loss, said))
}

// verifyAsiai recomputes mean and median of each engine from its raw runs.
func verifyAsiai(d node, v *Verification) {
	check := func(name string, e node) {
		if e.get("energy").isObject() {
			v.not("%s: energy: the readings of its rails are not there", plain(name))
		}
		var xs []float64
		for _, r := range e.get("raw_runs").list() {
			if t, ok := r.get("tok_per_sec").num(); ok && t > 0 {
				xs = append(xs, t)
			}
		}
		if len(xs) == 0 {
			v.not("%s: there are no raw runs", plain(name))
			return
		}
		slices.Sort(xs)
		sum := 0.0
		for _, x := range xs {
			sum += x
		}
		const asPrinted = 0.02 // it rounds to one or two decimals
		v.near(name+".avg_tok_s", e.get("avg_tok_s"), sum/float64(len(xs)), asPrinted)
		v.near(name+".median_tok_s", e.get("median_tok_s"), median(xs), asPrinted)
	}
	engines := d.get("benchmark", "engines")
	for _, name := range engines.names() {
		check(name, engines.get(name))
	}
	for i, e := range d.get("benchmark", "slots").list() {
		check(firstName(e, i), e)
	}
}

// near holds a number that was rounded for print, to within 0.06 or share.
func (v *Verification) near(name string, stated node, found, share float64) {
	if s, ok := stated.num(); ok && math.Abs(s-found) <= 0.06 {
		v.follows()
		return
	}
	v.number(name, stated, is(found), share)
}

// median interpolates, as the tools do that it is for.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// verifyVLLM recomputes from the totals, and from the per-request lists that
// --save-detailed keeps.
func verifyVLLM(d node, v *Verification) {
	if s, ok := d.get("duration").num(); ok && s > 0 {
		in, out := d.get("total_input_tokens").number(), d.get("total_output_tokens").number()
		v.number("request_throughput", d.get("request_throughput"), scaled(d.get("completed").number(), 1/s), 1e-6)
		v.number("output_throughput", d.get("output_throughput"), scaled(out, 1/s), 1e-6)
		if in.has() && out.has() {
			v.number("total_token_throughput", d.get("total_token_throughput"), is((*in.Value+*out.Value)/s), 1e-6)
		}
	}
	if lens := d.get("output_lens"); lens.isList() {
		v.number("total_output_tokens", d.get("total_output_tokens"), sumNumber(lens.list()), 0)
	}
	xs := vllmTTFT(d)
	if len(xs) == 0 {
		v.not("latencies: the file holds no per-request lists of successful requests; --save-detailed writes them")
		return
	}
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	v.number("mean_ttft_ms", d.get("mean_ttft_ms"), is(sum/float64(len(xs))), 1e-6)
	v.number("median_ttft_ms", d.get("median_ttft_ms"), is(median(xs)), 1e-6)
	v.number("p99_ttft_ms", d.get("p99_ttft_ms"), is(linear(xs, 0.99)), 1e-6)
}

// vllmTTFT are the TTFTs of successful requests in ms, sorted.
func vllmTTFT(d node) (xs []float64) {
	errors := d.get("errors").list()
	for i, t := range d.get("ttfts").list() {
		if x, ok := t.num(); ok && x > 0 && (i >= len(errors) || errors[i].str() == "") {
			xs = append(xs, x*1000)
		}
	}
	slices.Sort(xs)
	return xs
}

// linear is the percentile that interpolates, as NumPy's default does.
func linear(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func verifyPromptfoo(d node, v *Verification) {
	rows := d.get("results", "results").list()
	if len(rows) == 0 {
		v.not("there are no rows")
		return
	}
	pass, failed, errors := 0.0, 0.0, 0.0
	for _, r := range rows {
		ok, _ := r.get("success").v.(bool)
		reason, _ := r.get("failureReason").num()
		switch {
		case ok:
			pass++
		case reason == 2:
			errors++
		default:
			failed++
		}
	}
	s := d.get("results", "stats")
	v.number("results.stats.successes", s.get("successes"), is(pass), 0)
	v.number("results.stats.failures", s.get("failures"), is(failed), 0)
	v.number("results.stats.errors", s.get("errors"), is(errors), 0)
}

// verifySWE counts the lists of a grader's report.
func verifySWE(d node, v *Verification) {
	for _, of := range []string{"submitted", "completed", "resolved", "unresolved", "empty_patch", "error"} {
		if ids := d.get(of + "_ids"); ids.isList() {
			v.number(of+"_instances", d.get(of+"_instances"), is(float64(len(ids.list()))), 0)
		}
	}
}
