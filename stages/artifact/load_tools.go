package artifact

import (
	"fmt"
	"strings"
)

// scaled is a number in other units.
func scaled(n Number, by float64) Number {
	if !n.has() {
		return n
	}
	return is(*n.Value * by)
}

// asText is a number or a text as a text: request_rate is "inf" where there is
// no rate.
func asText(n node) string {
	if f, ok := n.num(); ok {
		return number(f)
	}
	return n.str()
}

// rate is requests a second, unknown where all were sent at once.
func rate(n node) Number {
	if s := n.str(); s != "" {
		return unknown[float64]("closed loop: the rate is " + plain(s))
	}
	return n.number()
}

func readVLLM(f *file) []*Record {
	r, d := f.record()
	r.Labels.Evidence = is([]string{"capacity"})
	r.Identity.Model, r.Identity.Tokenizer = d.get("model_id").text(), d.get("tokenizer_id").text()
	r.Identity.ServedName = r.Identity.Model
	r.Engine.Name, r.Engine.Version = d.get("backend").text(), d.get("version").text()
	w, s := &r.Workload, &r.Results
	w.Requests, w.Concurrency, w.Rate = d.get("num_prompts").count(1), d.get("max_concurrency").count(1), rate(d.get("request_rate"))
	w.Burst = is(false)
	w.Method = unknown[string]("which data set was sent is not recorded")
	s.Completed = d.get("completed").count(0)
	if q := w.Requests.Value; q != nil && s.Completed.has() {
		s.Failed = is(*q - *s.Completed.Value)
	}
	s.Failed = d.get("failed").count(0).or(s.Failed)
	s.WallS, s.ThroughputTokS, s.RequestRate = d.get("duration").number(), d.get("output_throughput").number(), d.get("request_throughput").number()
	s.PromptTokensSum, s.OutputTokensSum = d.get("total_input_tokens").count(0), d.get("total_output_tokens").count(0)
	s.PromptTokens, s.OutputTokens = meanOf(s.PromptTokensSum, s.Completed), meanOf(s.OutputTokensSum, s.Completed)
	s.TTFTP50, s.TTFTP95 = d.get("median_ttft_ms").number(), d.get("p95_ttft_ms").number()
	s.TPOTP50, s.TPOTP95 = d.get("median_tpot_ms").number(), d.get("p95_tpot_ms").number()
	s.E2EP50, s.E2EP95 = d.get("median_e2el_ms").number(), d.get("p95_e2el_ms").number()
	r.Provenance.StartedAt = d.get("date").text()
	return []*Record{r}
}

func readGuideLLM(f *file) (out []*Record) {
	for i, b := range f.doc.get("benchmarks").list() {
		r := new(Record)
		b.bad = &r.Invalid
		c, m := b.get("config"), b.get("metrics")
		strategy := c.get("strategy")
		r.Part = plain(fmt.Sprintf("%d-%s", i+1, strategy.get("type_").str()))
		r.Labels.Evidence = is([]string{"capacity"})
		r.Identity.Model = c.get("backend", "model").text().or(b.get("benchmarker", "backend", "model").text())
		r.Identity.ServedName = r.Identity.Model
		r.Generation.MaxTokens = c.get("backend", "max_tokens").count(1)
		w, s := &r.Workload, &r.Results
		if w.Rate = strategy.get("rate").number(); strategy.get("type_").str() == "concurrent" {
			w.Concurrency = strategy.get("streams").count(1).or(strategy.get("max_concurrency").count(1))
		}
		totals := m.get("request_totals")
		w.Requests, s.Completed = totals.get("total").count(0), totals.get("successful").count(0)
		if e, x := totals.get("errored").count(0), totals.get("incomplete").count(0); e.has() && x.has() {
			s.Failed = is(*e.Value + *x.Value)
		}
		w.Burst = is(false)
		w.PromptSet = hashOf(f.doc.get("config", "spec", "data"))
		w.ContextSeed = f.doc.get("config", "spec", "seed", "value").number()
		good := func(name string) node { return m.get(name, "successful") }
		s.WallS = b.get("duration").number()
		s.PromptTokens, s.OutputTokens = good("prompt_token_count").get("mean").number(), good("output_token_count").get("mean").number()
		s.PromptTokensSum, s.OutputTokensSum = good("prompt_token_count").get("total_sum").number(), good("output_token_count").get("total_sum").number()
		s.RequestRate, s.ThroughputTokS = good("requests_per_second").get("mean").number(), unknown[float64]("its mean of rates over moments is no tokens / wall")
		s.TTFTP50, s.TTFTP95 = p50p95(good("time_to_first_token_ms"), 1)
		s.TTFOP50, s.TTFOP95 = p50p95(good("time_to_first_output_token_ms"), 1)
		s.E2EP50, s.E2EP95 = p50p95(good("request_latency"), 1000)
		s.TPOTP50, s.TPOTP95 = unknown[float64](notThese), unknown[float64](notThese)
		r.Provenance.ToolVersion = f.doc.get("metadata", "guidellm_version").text()
		r.Provenance.RunID = c.get("run_id").text()
		out = append(out, r)
	}
	return out
}

func p50p95(d node, by float64) (p50, p95 Number) {
	if n, ok := d.get("count").num(); ok && n == 0 {
		return unknown[float64]("no request completed"), unknown[float64]("no request completed")
	}
	return scaled(d.get("percentiles", "p50").number(), by), scaled(d.get("percentiles", "p95").number(), by)
}

// readPerf reads AIPerf and genai-perf, whose files have one shape: an object
// of unit, avg and percentiles for each metric.
func readPerf(f *file) []*Record {
	r, d := f.record()
	c := d.get("input_config")
	r.Labels.Evidence = is([]string{"capacity"})
	r.Identity.Model = firstText(c.get("endpoint", "model_names"), c.get("model_names"), c.get("models"), c.get("model"))
	r.Identity.ServedName = r.Identity.Model
	w := &r.Workload
	w.Concurrency = c.get("loadgen", "concurrency").number().or(c.get("perf_analyzer", "stimulus", "concurrency").number()).or(c.get("concurrency").number())
	w.Rate = c.get("loadgen", "request_rate").number().or(c.get("request_rate").number())
	w.ContextSeed = c.get("input", "random_seed").number().or(c.get("random_seed").number())
	w.PromptSet = hashOf(c.get("input"))
	w.Burst = is(false)
	r.perfResults(d)
	if c, _ := d.get("was_cancelled").v.(bool); c {
		d.invalid("the run was cancelled")
	}
	r.Provenance.ToolVersion = d.get("aiperf_version").text()
	r.Provenance.StartedAt, r.Provenance.FinishedAt = d.get("start_time").text(), d.get("end_time").text()
	return []*Record{r}
}

func (r *Record) perfResults(d node) {
	s := &r.Results
	s.Completed, s.Failed = d.get("request_count", "avg").number(), d.get("error_request_count", "avg").number()
	if s.Completed.has() {
		r.Workload.Requests = is(*s.Completed.Value + zero(s.Failed))
	}
	s.RequestRate, s.ThroughputTokS = d.get("request_throughput", "avg").number(), d.get("output_token_throughput", "avg").number()
	s.TTFTP50, s.TTFTP95 = perfPair(d, "time_to_first_token")
	s.TTFOP50, s.TTFOP95 = perfPair(d, "time_to_first_output_token")
	s.E2EP50, s.E2EP95 = perfPair(d, "request_latency")
	s.TPOTP50, s.TPOTP95 = perfPair(d, "inter_token_latency")
	s.PromptTokens, s.OutputTokens = d.get("input_sequence_length", "avg").number(), d.get("output_sequence_length", "avg").number()
	s.WallS = d.get("benchmark_duration", "avg").number()
}

// perfUnits turn the units of a metric into ms; what is not named is ms.
var perfUnits = map[string]float64{"s": 1000, "sec": 1000, "seconds": 1000, "us": 1e-3, "µs": 1e-3, "ns": 1e-6}

func perfPair(d node, name string) (p50, p95 Number) {
	m := d.get(name)
	by, ok := perfUnits[m.get("unit").str()]
	if !ok {
		by = 1
	}
	return scaled(m.get("p50").number(), by), scaled(m.get("p95").number(), by)
}

func zero(n Number) float64 {
	if n.has() {
		return *n.Value
	}
	return 0
}

// firstText is the first of values that is a text, or a list that begins with
// one.
func firstText(values ...node) Text {
	for _, v := range values {
		if l := v.list(); len(l) > 0 {
			v = l[0]
		}
		if v.str() != "" {
			return v.text()
		}
	}
	return unknown[string](notRecorded)
}

func readInferencePerf(f *file) []*Record {
	r, d := f.record()
	r.Labels.Evidence = is([]string{"capacity"})
	w, s, ok := &r.Workload, &r.Results, d.get("successes")
	w.Requests, w.Rate = d.get("load_summary", "count").count(0), d.get("load_summary", "requested_rate").number()
	s.Completed, s.Failed = ok.get("count").count(0), d.get("failures", "count").count(0)
	s.WallS = d.get("load_summary", "send_duration").number()
	lat := ok.get("latency")
	quantiles := func(name string) (Number, Number) {
		return scaled(lat.get(name, "median").number(), 1000), scaled(lat.get(name, "p95").number(), 1000)
	}
	s.E2EP50, s.E2EP95 = quantiles("request_latency")
	s.TTFTP50, s.TTFTP95 = quantiles("time_to_first_token")
	s.TPOTP50, s.TPOTP95 = quantiles("time_per_output_token")
	s.ThroughputTokS, s.RequestRate = ok.get("throughput", "output_tokens_per_sec").number(), ok.get("throughput", "requests_per_sec").number()
	s.PromptTokens, s.OutputTokens = ok.get("prompt_len", "mean").number(), ok.get("output_len", "mean").number()
	return []*Record{r}
}

// readAsiai reads export v2, whose engines share one model, and v3, whose slots
// have one each.
func readAsiai(f *file) (out []*Record) {
	b := f.doc.get("benchmark")
	slots := b.get("engines")
	if !slots.isObject() {
		slots = b.get("slots")
	}
	add := func(name string, e node) {
		r := new(Record)
		e.bad = &r.Invalid
		r.Part = plain(name)
		r.asiai(f.doc, b, e, name)
		out = append(out, r)
	}
	for _, name := range slots.names() {
		add(name, slots.get(name))
	}
	for i, e := range slots.list() {
		add(firstName(e, i), e)
	}
	return out
}

func firstName(e node, i int) string {
	for _, k := range []string{"slot", "name", "engine"} {
		if s := e.get(k).str(); s != "" {
			if m := e.get("model").str(); m != "" && k == "engine" {
				return s + "/" + m
			}
			return s
		}
	}
	return fmt.Sprintf("slot-%d", i+1)
}

func (r *Record) asiai(doc, b, e node, name string) {
	machine := doc.get("machine")
	r.Labels.Evidence = is([]string{"capacity"})
	r.Identity.Model = e.get("model").text().or(b.get("model").text())
	r.Identity.ServedName = r.Identity.Model
	r.Engine.Name, r.Engine.Version = e.get("engine").text().or(said(name)), e.get("engine_version").text()
	r.Memory.Weights = e.get("model_quantization").text()
	r.Memory.ServedContext = unknown[float64]("context_size there is the prompt's, not what is served")
	r.Hardware.GPU = machine.get("chip").text()
	r.Hardware.Host = machine.get("os_version").text()
	w, s := &r.Workload, &r.Results
	prompts := texts(b.get("prompts"))
	w.Protocol, w.Concurrency, w.Burst = is("asiai/bench"), is(1.0), is(false)
	w.Repetitions, w.Requests = b.get("runs_per_prompt").count(1), e.get("runs_count").count(0)
	w.Instances = is(prompts)
	w.PromptSet = is("asiai/" + strings.Join(prompts, ","))
	w.Context = b.get("context_size").number()
	if w.Context.has() && *w.Context.Value == 0 {
		w.Context = unknown[float64]("0 there is the prompts as they are")
	}
	s.Completed = e.get("runs_count").count(0)
	s.DecodeP50 = e.get("median_tok_s").number()
	s.TTFTP50, s.TTFTP95 = e.get("median_ttft_ms").number(), unknown[float64]("p90 and p99 are recorded")
	r.Energy = readAsiaiEnergy(e, doc.get("wall_calibration"))
	sum, n := 0.0, 0
	for _, run := range e.get("raw_runs").list() {
		if t := run.get("tokens_generated").number(); t.has() {
			sum, n = sum+*t.Value, n+1
		}
	}
	if n > 0 {
		s.OutputTokensSum, s.OutputTokens = is(sum), is(sum/float64(n))
	}
	r.Provenance.ToolVersion, r.Provenance.StartedAt = doc.get("asiai_version").text(), is(asText(doc.get("timestamp")))
	r.Notes = append(r.Notes, "decode_tok_s_p50 is asiai's median tok/s (M1): with a thinking model it counts thinking over the time of the answer alone")
}
