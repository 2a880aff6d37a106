package artifact

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cupel-dev/cupel/stages/metric"
)

// anvilRow is one request of a capacity artifact with what follows from its
// stamps.
type anvilRow struct {
	ttft, ttfo, e2e float64 // ms
	prompt, output  *float64
	content, reason *float64
}

// anvilRows reads the rows of successful requests. A row that is not in order
// of time is an error: the tool itself drops such rows.
func anvilRows(d node) ([]anvilRow, error) {
	var out []anvilRow
	for i, n := range d.get("request_timings").list() {
		row := anvilRow{prompt: n.get("prompt_tokens").number().Value, content: n.get("content_chunks").number().Value, reason: n.get("reasoning_chunks").number().Value}
		ttft, ok := n.get("ttft_ms").num()
		e2e, ok2 := n.get("e2e_ms").num()
		ttfo := ttft
		if v, there := n.get("time_to_first_output_ms").num(); there {
			ttfo = v
		}
		if !ok || !ok2 || !(0 <= ttfo && ttfo <= ttft && ttft <= e2e) || math.IsInf(e2e, 0) {
			return nil, fmt.Errorf("request_timings[%d] is not in order of time", i)
		}
		row.ttft, row.ttfo, row.e2e = ttft, ttfo, e2e
		if n.get("output_token_source").str() != "content_chunks" {
			row.output = n.get("output_tokens").number().Value
		}
		out = append(out, row)
	}
	return out, nil
}

// seconds of generation, as both protocols of the tool take them.
func (r *anvilRow) generation() float64 { return r.e2e - r.ttfo }

// derived are the per-request formulas by the tool's name for them; nil = none.
var derived = map[string]func(*anvilRow) *float64{
	"ttft":                        func(r *anvilRow) *float64 { return &r.ttft },
	"e2e":                         func(r *anvilRow) *float64 { return &r.e2e },
	"time_to_first_output":        func(r *anvilRow) *float64 { return &r.ttfo },
	"generation":                  func(r *anvilRow) *float64 { g := r.generation(); return &g },
	"effective_prefill_tok_s":     func(r *anvilRow) *float64 { return quotient(r.prompt, 0, r.ttfo/1000) },
	"decode_tok_s":                func(r *anvilRow) *float64 { return quotient(r.output, 1, r.generation()/1000) },
	"mean_inter_token_latency_ms": func(r *anvilRow) *float64 { return inverse(r.generation(), r.output) },
	"prompt_tokens":               func(r *anvilRow) *float64 { return r.prompt },
}

// quotient is (n-less)/by, nil when there is no n or by is not positive.
func quotient(n *float64, less, by float64) *float64 {
	if n == nil || by <= 0 || *n-less <= 0 {
		return nil
	}
	q := (*n - less) / by
	return &q
}

// inverse is ms/(n-1).
func inverse(ms float64, n *float64) *float64 {
	if n == nil || *n <= 1 || ms <= 0 {
		return nil
	}
	q := ms / (*n - 1)
	return &q
}

// verifyCapacity recomputes all aggregates of the metrics.
func verifyCapacity(d node, v *Verification) {
	m := d.get("metrics")
	if !d.get("request_timings").isList() {
		v.not("there are no rows: none of %d numbers can be recomputed", len(m.names()))
		return
	}
	rows, err := anvilRows(d)
	if err != nil {
		v.wrong("request_timings", "malformed", Number{}, err.Error())
		return
	}
	c := recount{v, rows, map[string]bool{}}
	c.number("completed", d.get("completed"), is(float64(len(rows))), 0)
	if q, ok := d.get("requests").num(); ok {
		c.number("failed", d.get("failed"), is(q-float64(len(rows))), 0)
	}
	c.percentiles(m)
	c.sums(m)
	c.number("throughput_tok_s", m.get("throughput_tok_s"), throughput(rows, d.get("wall_clock_ms").number()), 1e-6)
	for _, name := range m.names() {
		if !c.done[name] && m.get(name).has() {
			v.not("metrics.%s: the rows do not hold what it is made of", name)
		}
	}
	if failed, _ := d.get("failed").num(); failed > 0 {
		v.not("%g requests failed: the numbers describe the survivors", failed)
	}
}

// recount remembers which aggregates were looked at.
type recount struct {
	v    *Verification
	rows []anvilRow
	done map[string]bool
}

func (c *recount) number(name string, stated node, found Number, tolerance float64) {
	c.done[name] = true
	c.v.number(name, stated, found, tolerance)
}

func (c *recount) percentiles(m node) {
	for _, family := range slices.Sorted(maps.Keys(derived)) {
		for p, at := range map[string]metric.Percentile{"p50": metric.P50, "p95": metric.P95} {
			name := aggregateName(family, p)
			c.number(name, m.get(name), rank(c.rows, derived[family], at), rounding)
		}
	}
}

func (c *recount) sums(m node) {
	prompt := func(r *anvilRow) *float64 { return r.prompt }
	c.number("output_tokens", m.get("output_tokens"), outputs(c.rows), rounding)
	c.number("prompt_tokens", m.get("prompt_tokens"), total(c.rows, prompt), rounding)
	c.number("ttft_samples", m.get("ttft_samples"), is(float64(len(c.rows))), 0)
	c.number("prompt_token_samples", m.get("prompt_token_samples"), counted(c.rows, prompt), 0)
	for name, of := range map[string]func(*anvilRow) *float64{
		"content_chunks":   func(r *anvilRow) *float64 { return r.content },
		"reasoning_chunks": func(r *anvilRow) *float64 { return r.reason },
	} {
		if n := total(c.rows, of); n.has() { // older rows do not hold them
			c.number(name, m.get(name), n, rounding)
		}
	}
}

// aggregateName is where an aggregate stands: ttft_p50_ms, decode_tok_s_p50.
func aggregateName(family, p string) string {
	switch family {
	case "ttft", "e2e", "time_to_first_output", "generation":
		return family + "_" + p + "_ms"
	}
	return family + "_" + p
}

func values(rows []anvilRow, of func(*anvilRow) *float64) (out []float64) {
	for i := range rows {
		if v := of(&rows[i]); v != nil {
			out = append(out, *v)
		}
	}
	return out
}

func rank(rows []anvilRow, of func(*anvilRow) *float64, p metric.Percentile) Number {
	xs := values(rows, of)
	if len(xs) == 0 {
		return unknown[float64]("no row has it")
	}
	slices.Sort(xs)
	return is(metric.NearestRank(xs, p))
}

func total(rows []anvilRow, of func(*anvilRow) *float64) Number {
	xs := values(rows, of)
	if len(xs) == 0 {
		return unknown[float64]("no row has it")
	}
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return is(sum)
}

func counted(rows []anvilRow, of func(*anvilRow) *float64) Number {
	return is(float64(len(values(rows, of))))
}

// outputs is the sum of output tokens, known only when every row has them.
func outputs(rows []anvilRow) Number {
	of := func(r *anvilRow) *float64 { return r.output }
	if len(values(rows, of)) != len(rows) {
		return unknown[float64]("not every row has a token count of the engine")
	}
	return total(rows, of)
}

func throughput(rows []anvilRow, wallMS Number) Number {
	sum := outputs(rows)
	if !sum.has() || !wallMS.has() || *wallMS.Value <= 0 {
		return unknown[float64]("tokens or wall time are not known")
	}
	return is(*sum.Value / (*wallMS.Value / 1000))
}
