package artifact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/measure/prompts"
)

const (
	anvilTool        = "anvil-serving"
	anvilLegacy      = "capacity-legacy" // before protocols were recorded
	anvilSharedUsual = 8000              // tokens of the shared prefix where none is recorded
	rebuildMost      = 256 << 20         // characters of prompts that are rebuilt
)

// readAnvilCapacity reads all capacity shapes: without a protocol, v2, v3 with
// its two kinds of rows, v4-reasoning, and the newer one with canaries.
func readAnvilCapacity(f *file) []*Record {
	r, d := f.record()
	m, flags := d.get("metrics"), d.get("serve_flags")
	legacy := !d.get("measurement_protocol").has()
	r.Labels.Evidence = is([]string{"capacity"})
	r.anvilIdentity(d)
	r.Memory.ServedContext = d.get("max_context_tokens").count(1)
	r.anvilControls(d, flags)
	w := &r.Workload
	w.Protocol = d.get("measurement_protocol").text()
	if legacy {
		w.Protocol = is(anvilLegacy)
		r.Notes = append(r.Notes, "there is no protocol, no row and no time in the file: no number of it can be recomputed")
	}
	w.Requests, w.Concurrency = d.get("requests").count(1), d.get("concurrency").count(1)
	w.Context, w.ContextSeed = d.get("context_tokens").count(1), d.get("context_seed").number()
	w.Distribution = distribution(d.get("context_distribution"))
	w.Burst, w.Canaries = flags.get("shared_prefix_burst").flag(), d.get("request_canaries").flag()
	w.ResponseWords, w.OutputPolicy = d.get("response_words").count(0), d.get("controlled_output_policy").text()
	w.SharedTokens = d.get("shared_prefix_tokens").count(0)
	if !w.Context.has() && w.Distribution.has() {
		w.Context = unknown[float64]("lengths were drawn: see context_distribution")
	}
	r.anvilPrompts(f, d, legacy)
	if ok := d.get("performance_eligible").flag(); ok.has() && !*ok.Value {
		d.invalid("the tool itself says that it is not eligible as a performance")
	}
	r.anvilResults(d, m)
	p := &r.Provenance
	p.RunID, p.StartedAt, p.FinishedAt = d.get("run_id").text(), d.get("started_at").text(), d.get("finished_at").text()
	p.Recipe = recipe(d.get("source_recipe"))
	return []*Record{r}
}

func (k Known[T]) has() bool { return k.Value != nil }

// recipe is a text, or an object with a ref. Its serve command is not read.
func recipe(n node) Text {
	if n.isObject() {
		return n.get("ref").text()
	}
	return n.text()
}

// distribution is {length: requests} as one text.
func distribution(n node) Text {
	if !n.isObject() || len(n.names()) == 0 {
		return unknown[string](notRecorded)
	}
	for _, name := range n.names() {
		n.get(name).count(0)
	}
	b, err := json.Marshal(n.v)
	if err != nil {
		return unknown[string]("malformed")
	}
	return said(string(b))
}

func (r *Record) anvilIdentity(d node) {
	r.Identity.ServedName = d.get("model").text()
	r.Identity.Model = r.Identity.ServedName
	r.Engine.Name = d.get("engine").text().or(d.get("identity", "engine").text())
	r.Hardware.GPU = d.get("gpu").text().or(d.get("identity", "gpu").text())
}

// thinkingModes and mechanisms are the words that a control may have.
var (
	thinkingModes = []string{"default", "enabled", "disabled", "unsupported"}
	mechanisms    = []string{"chat_template_kwargs", "reasoning_effort", "unsupported", "none"}
)

// anvilControls reads what was asked of the model. A word that no version of
// the tool writes makes the artifact invalid.
func (r *Record) anvilControls(d, flags node) {
	g, th := &r.Generation, d.get("thinking")
	g.MaxTokens = d.get("max_tokens").count(1)
	g.ThinkingMode = flags.get("thinking_mode").text().or(th.get("mode").text())
	g.NoThinking = flags.get("no_thinking").flag()
	g.Effort = flags.get("reasoning_effort").text().or(th.get("reasoning_effort").text())
	if !g.Effort.has() && (flags.isObject() || th.isObject()) {
		g.Effort = is("none")
	}
	g.Mechanism = th.get("control_mechanism").text()
	g.ControlStatus = th.get("control_status").text()
	g.ControlProof = th.get("control_evidence_sha256").digest()
	if s := d.get("sampling"); s.isObject() {
		g.Temperature, g.TopP = s.get("temperature", "sent").number(), s.get("top_p", "sent").number()
	}
	if v := g.ThinkingMode.Value; v != nil && !slices.Contains(thinkingModes, *v) {
		d.invalid("protocol.thinking_mode is unsupported: %q", *v)
	}
	if v := g.Mechanism.Value; v != nil && !slices.Contains(mechanisms, *v) {
		d.invalid("protocol.control_mechanism is unsupported: %q", *v)
	}
	if n, m := g.NoThinking.Value, g.ThinkingMode.Value; n != nil && *n && m != nil && *m != "disabled" {
		d.invalid("protocol.no_thinking=true conflicts with thinking_mode")
	}
}

// anvilPrompts tells the cache policy and the prompts: as declared, else as they
// follow from what the generator was given.
func (r *Record) anvilPrompts(f *file, d node, legacy bool) {
	w := &r.Workload
	w.CachePolicy = d.get("cache_policy").text().or(d.get("serve_flags", "cache_policy").text()).or(d.get("prompt_cache_mode").text())
	w.PromptSet = d.get("prompt_set_id").text().or(d.get("workload_id").text()).or(d.get("suite_id").text())
	if w.CachePolicy.has() && w.PromptSet.has() {
		return
	}
	if legacy {
		const why = "which generator made the prompts is not recorded"
		w.CachePolicy, w.PromptSet = w.CachePolicy.or(unknown[string](why)), w.PromptSet.or(unknown[string](why))
		return
	}
	if !w.CachePolicy.has() {
		w.CachePolicy = is("shared")
		r.Notes = append(r.Notes, "cache policy shared: this version of the generator begins every prompt with the same text")
	}
	if w.PromptSet.has() {
		return
	}
	if !f.prompts {
		w.PromptSet = unknown[string]("not rebuilt: a comparison does")
		return
	}
	id, err := r.rebuild(d)
	if err != nil {
		w.PromptSet = unknown[string](plain(err.Error()))
		return
	}
	w.PromptSet = is(id)
}

// rebuild makes the prompts again from the generator's recorded inputs and
// returns what identifies them.
func (r *Record) rebuild(d node) (string, error) {
	c, err := r.generator(d)
	if err != nil {
		return "", err
	}
	b, err := prompts.New(c)
	if err != nil {
		return "", fmt.Errorf("the prompts cannot be rebuilt: %w", err)
	}
	sha, _, err := prompts.Digest(b, c.Requests)
	if err != nil {
		return "", fmt.Errorf("the prompts cannot be rebuilt: %w", err)
	}
	return "sha256:" + sha.String(), nil
}

// generator is what the prompts of an artifact depend on.
func (r *Record) generator(d node) (prompts.Cell, error) {
	w := &r.Workload
	newer := d.get("prompt_cache_mode").has()
	c := prompts.Cell{Concurrency: 1, Trial: 1, Prompt: spec.CapacityPrompt{Builder: prompts.AnvilS, Cache: "shared", SharedTokens: anvilSharedUsual}}
	if newer {
		c.Prompt.Builder, c.Prompt.Cache = prompts.AnvilN, cmp.Or(d.get("prompt_cache_mode").str(), "shared")
		c.Prompt.Canary = w.Canaries.Value != nil && *w.Canaries.Value
		if w.ResponseWords.has() {
			c.Output.Words = int(*w.ResponseWords.Value)
		}
	}
	switch {
	case w.SharedTokens.has():
		c.Prompt.SharedTokens = int(*w.SharedTokens.Value)
	case c.Prompt.Cache == "shared":
		r.Notes = append(r.Notes, fmt.Sprintf("the length of the shared prefix is not recorded: prompts are rebuilt with the tool's usual %d tokens", anvilSharedUsual))
	}
	if c.Prompt.Cache != "shared" {
		c.Prompt.SharedTokens = 0
	}
	if s := w.ContextSeed.Value; s != nil {
		c.Seed = int64(*s)
	}
	lengths, err := planned(d, w)
	if err != nil {
		return c, err
	}
	c.Requests, c.Lengths = len(lengths), lengths
	sum := 0
	for _, n := range lengths {
		sum += n
	}
	if float64(sum)*prompts.NominalCharsPerToken > rebuildMost {
		return c, fmt.Errorf("the prompts have about %d tokens together, more than are rebuilt", sum)
	}
	return c, nil
}

// planned are the lengths of all requests, in order: of the rows, and where
// rows are missing the one length that all have.
func planned(d node, w *Workload) ([]int, error) {
	if !w.Requests.has() || *w.Requests.Value > 10_000 {
		return nil, fmt.Errorf("the number of requests is not usable")
	}
	n := int(*w.Requests.Value)
	out := make([]int, n)
	for _, row := range d.get("request_timings").list() {
		i, ok := row.get("request_index").num()
		t, ok2 := row.get("planned_context_tokens").num()
		if ok && ok2 && i >= 0 && int(i) < n && t >= 1 && t <= 1<<20 {
			out[int(i)] = int(t)
		}
	}
	one := 0
	if names := d.get("context_distribution").names(); len(names) == 1 {
		fmt.Sscanf(names[0], "%d", &one)
	}
	for i := range out {
		if out[i] == 0 {
			out[i] = one
		}
		if out[i] < 1 {
			return nil, fmt.Errorf("the length of prompt %d is not recorded", i)
		}
	}
	return out, nil
}

// anvilNumbers are the aggregates under their names there.
var anvilNumbers = map[string]func(*Results) *Number{
	"throughput_tok_s":                func(r *Results) *Number { return &r.ThroughputTokS },
	"ttft_p50_ms":                     func(r *Results) *Number { return &r.TTFTP50 },
	"ttft_p95_ms":                     func(r *Results) *Number { return &r.TTFTP95 },
	"time_to_first_output_p50_ms":     func(r *Results) *Number { return &r.TTFOP50 },
	"time_to_first_output_p95_ms":     func(r *Results) *Number { return &r.TTFOP95 },
	"e2e_p50_ms":                      func(r *Results) *Number { return &r.E2EP50 },
	"e2e_p95_ms":                      func(r *Results) *Number { return &r.E2EP95 },
	"generation_p50_ms":               func(r *Results) *Number { return &r.GenerationP50 },
	"generation_p95_ms":               func(r *Results) *Number { return &r.GenerationP95 },
	"decode_tok_s_p50":                func(r *Results) *Number { return &r.DecodeP50 },
	"decode_tok_s_p95":                func(r *Results) *Number { return &r.DecodeP95 },
	"mean_inter_token_latency_ms_p50": func(r *Results) *Number { return &r.TPOTP50 },
	"mean_inter_token_latency_ms_p95": func(r *Results) *Number { return &r.TPOTP95 },
	"effective_prefill_tok_s_p50":     func(r *Results) *Number { return &r.PrefillP50 },
	"effective_prefill_tok_s_p95":     func(r *Results) *Number { return &r.PrefillP95 },
	"output_tokens":                   func(r *Results) *Number { return &r.OutputTokensSum },
	"prompt_tokens":                   func(r *Results) *Number { return &r.PromptTokensSum },
	"prefix_cache_hit_avg":            func(r *Results) *Number { return &r.CachedShare },
}

func (r *Record) anvilResults(d, m node) {
	s := &r.Results
	s.Completed, s.Failed = d.get("completed").count(0), d.get("failed").count(0)
	if q, c := r.Workload.Requests.Value, s.Completed.Value; q != nil && c != nil {
		if *c > *q {
			d.invalid("completed %g is more than requests %g", *c, *q)
		}
		s.Failed = s.Failed.or(is(*q - *c))
	}
	for _, name := range slices.Sorted(maps.Keys(anvilNumbers)) {
		*anvilNumbers[name](s) = m.get(name).number()
	}
	if ms := d.get("wall_clock_ms").number(); ms.has() {
		s.WallS = is(*ms.Value / 1000)
	}
	prompt := m.get("prompt_token_samples").count(0).or(s.Completed)
	s.PromptTokens, s.OutputTokens = meanOf(s.PromptTokensSum, prompt), meanOf(s.OutputTokensSum, s.Completed)
}

// meanOf is a sum over how many there were.
func meanOf(sum, n Number) Number {
	if !sum.has() || !n.has() || *n.Value <= 0 {
		return unknown[float64](cmp.Or(sum.Unknown, n.Unknown, "no request completed"))
	}
	return is(*sum.Value / *n.Value)
}
