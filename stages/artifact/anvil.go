package artifact

import (
	"slices"
	"strings"
)

// anvilFormats are the shapes of anvil-serving that are read.
var anvilFormats = []Format{
	{Name: "anvil/capacity", Tool: anvilTool, Kind: Capacity, Schema: "anvil-serving.benchmark/v1", Doc: "capacity without a protocol (2026-07), capacity-v2, capacity-v3 with two kinds of rows, capacity-v4-reasoning, and the newer one with canaries",
		Unknown: []string{"the weights' revision, the image's digest, quantisation and KV type, the driver and the power limit, and how busy the client was"},
		is:      func(f *file) bool { return f.schema == "anvil-serving.benchmark/v1" && f.doc.get("metrics").isObject() },
		read:    readAnvilCapacity},
	{Name: "anvil/quality", Tool: anvilTool, Kind: Quality, Schema: "anvil-serving.fast-tier-bakeoff/v1", Doc: "quality protocols 3 and 2, and the two older shapes without a protocol",
		Unknown: []string{"the prompts: a suite is known by the hash of its file alone"},
		is:      isAnvilQuality, read: readAnvilQuality},
	{Name: "anvil/capacity-aggregate", Tool: anvilTool, Kind: Capacity, Schema: "anvil-serving.capacity-aggregate/v1", Doc: "replicas that ran at the same time, added up",
		is: func(f *file) bool { return f.schema == "anvil-serving.capacity-aggregate/v1" }, read: readAnvilCapacity},
	{Name: "anvil/job-result", Tool: anvilTool, Kind: Campaign, Schema: "anvil-serving.benchmark-result/v1", Doc: "the envelope of a job, with its evidence inside",
		is: func(f *file) bool { return f.schema == "anvil-serving.benchmark-result/v1" }, read: readAnvilJobResult},
	{Name: "anvil/prior", Tool: anvilTool, Kind: Prior, Schema: "anvil-serving.benchmark-evidence/v1, external_prior", Doc: "what somebody else claims: never evidence",
		is: func(f *file) bool {
			return f.schema == "anvil-serving.benchmark-evidence/v1" && f.doc.get("evidence_kind").str() == "external_prior"
		}, read: readAnvilPrior},
	{Name: "anvil/campaign", Tool: anvilTool, Kind: Campaign, Schema: "anvil-serving.benchmark-evidence/v1, measured", Doc: "context, agentic and SWE jobs",
		Unknown: []string{"how answers were sampled"},
		is:      func(f *file) bool { return f.schema == "anvil-serving.benchmark-evidence/v1" },
		read: func(f *file) []*Record {
			r, d := f.record()
			r.anvilCampaign(d)
			return []*Record{r}
		}},
	{Name: "anvil/preflight", Tool: anvilTool, Kind: Preflight, Schema: "preflight/v2", Doc: "functional checks",
		is: func(f *file) bool { return f.schema == "preflight/v2" }, read: readAnvilPreflight},
	{Name: "anvil/control", Tool: anvilTool, Kind: Control, Schema: "anvil-serving.control-evidence/v1", Doc: "proof that a reasoning control works; a quality artifact names it by hash",
		is: func(f *file) bool { return strings.Contains(f.schema, "control-evidence/v1") }, read: readAnvilControl},
	{Name: "anvil/multimodal", Tool: anvilTool, Kind: Multimodal, Schema: "multimodal-benchmark-evidence/v1", Doc: "images and videos: attempts, aggregates, corpus",
		is: func(f *file) bool { return strings.Contains(f.schema, "multimodal-benchmark-evidence/v1") }, read: readAnvilMultimodal},
	{Name: "anvil/speculative", Tool: anvilTool, Kind: Speculative, Schema: "anvil-serving.mtp-ab-probe/v1", Doc: "an A/B of speculative decoding; its method is known by its hash",
		is: func(f *file) bool { return strings.Contains(f.schema, "mtp-ab") || f.doc.get("mtp_on").isObject() }, read: readAnvilSpeculative},
	{Name: "anvil/stability", Tool: anvilTool, Kind: Stability, Schema: "anvil-serving.stability/v1", Doc: "an anchor and a contender that overlap: nothing of it is a performance",
		is: func(f *file) bool { return strings.HasPrefix(f.schema, "anvil-serving.stability/") }, read: readAnvilStability},
	{Name: "anvil/comparison", Tool: anvilTool, Kind: ABComparison, Schema: "kernel-tune-ab-comparison/v1, paired-capacity-comparison/v1", Doc: "a hand-written A/B with thresholds and a decision",
		is: func(f *file) bool {
			return strings.HasPrefix(f.schema, "kernel-tune-ab-comparison/") || strings.HasPrefix(f.schema, "paired-capacity-comparison/")
		}, read: readAnvilComparison},
	{Name: "anvil/swe-run", Tool: anvilTool, Kind: Resolution, Schema: "anvil-serving.swe-run/v1", Doc: "an agent's run and the official grader's report",
		is: func(f *file) bool { return strings.Contains(f.schema, "swe-run/v1") }, read: readAnvilSWE},
	{Name: "anvil/artifact-set", Tool: anvilTool, Kind: Listing, Schema: "anvil-serving.benchmark-artifact-set/v1", Doc: "names the files of a finding by hash",
		is: func(f *file) bool { return strings.Contains(f.schema, "benchmark-artifact-set/v1") }, read: readListing},
}

func isAnvilQuality(f *file) bool {
	if f.schema == "anvil-serving.fast-tier-bakeoff/v1" {
		return true
	}
	return f.schema == "anvil-serving.benchmark/v1" && slices.ContainsFunc(append([]string{"suites"}, builtIn...), func(n string) bool { return f.doc.get(n).isObject() })
}

func readAnvilJobResult(f *file) []*Record {
	r, d := f.record()
	if e := d.get("results", "evidence"); e.isObject() {
		if r.anvilCampaign(e); e.get("evidence_kind").str() == "external_prior" {
			r.Kind = Prior
		}
	} else {
		d.invalid("the job ended without evidence: status %s", plain(d.get("status").str()))
	}
	if p, _ := d.get("partial").v.(bool); p {
		r.Notes = append(r.Notes, "the job's result is partial")
	}
	r.Provenance.RunID = d.get("run", "run_id").text().or(r.Provenance.RunID)
	return []*Record{r}
}

func readAnvilPrior(f *file) []*Record {
	r, d := f.record()
	r.Labels.Evidence = is([]string{"claim"})
	r.Provenance.URL = d.get("source", "url").text()
	r.Provenance.StartedAt = d.get("source", "observed_at").text()
	r.Notes = append(r.Notes, "a claim of somebody else: a prior, never evidence")
	return []*Record{r}
}

// anvilCampaign reads the evidence of a job.
func (r *Record) anvilCampaign(d node) {
	r.Labels.Evidence = is([]string{"quality"})
	id, run, sum := d.get("identities"), d.get("run"), d.get("summary")
	r.Workload.Suite, r.Workload.Profile = run.get("suite").text(), id.get("dataset", "profile_sha256").digest()
	r.Identity.ServedName = id.get("served_model", "id").text()
	r.Identity.Model = id.get("model", "repo").text().or(id.get("model", "alias").text())
	r.Identity.Revision = id.get("model", "revision").text()
	r.Engine.Name, r.Engine.Version = id.get("runtime", "name").text(), id.get("runtime", "version").text()
	r.Engine.Image = id.get("image", "digest").text()
	r.Memory.ServedContext = id.get("served_model", "configured_context").count(1)
	r.Hardware.Host = id.get("hardware", "id").text()
	r.Workload.Concurrency = id.get("concurrency", "requests").count(1)
	r.Workload.Distribution = buckets(id.get("context", "selected_buckets"))
	r.Workload.MinPassRate = sum.get("required_pass_rate").number()
	r.Provenance.RunID, r.Provenance.SpecHash = run.get("run_id").text(), run.get("spec_sha256").text()
	r.Provenance.StartedAt = d.get("created_at").text()
	r.Results.Items, r.Results.Passed = sum.get("attempted").count(0), sum.get("passed").count(0)
	r.Results.Score = sum.get("pass_rate").number()
	r.Results.EffectiveContext = sum.get("effective_context").number()
	r.contextBuckets(sum)
	if c := d.get("completeness").str(); c != "completed" {
		d.invalid("completeness is %s: what a job that did not complete found is no result", plain(c))
	}
	if a, _ := d.get("promotion", "authorized").v.(bool); a {
		d.invalid("the evidence says that it authorizes a promotion, which evidence cannot")
	}
}

// buckets are the lengths of a context job as one text.
func buckets(n node) Text {
	var out []string
	for _, b := range n.list() {
		if v := b.count(1); v.has() {
			out = append(out, number(*v.Value))
		}
	}
	if len(out) == 0 {
		return unknown[string](notRecorded)
	}
	return is(strings.Join(out, ","))
}

// contextBuckets adds up the buckets of a context curve.
func (r *Record) contextBuckets(sum node) {
	list := sum.get("buckets").list()
	if len(list) == 0 {
		return
	}
	items, passed, done := 0.0, 0.0, 0.0
	for _, b := range list {
		n, p, c := b.get("sample_count").count(0), b.get("passed_count").count(0), b.get("completed_count").count(0)
		if n.has() && p.has() && c.has() {
			items, passed, done = items+*n.Value, passed+*p.Value, done+*c.Value
		}
	}
	r.Results.Items, r.Results.Passed = is(items), is(passed)
	r.Results.Completed, r.Results.Failed = is(done), is(items-done)
	if items > 0 {
		r.Results.Score = is(passed / items)
	}
}

func readAnvilPreflight(f *file) []*Record {
	r, d := f.record()
	r.Labels.Evidence = is([]string{"functional"})
	r.Identity.ServedName = d.get("model").text()
	r.Identity.Model = r.Identity.ServedName
	r.anvilControls(d, node{})
	r.Generation.VisibleTokens = d.get("budget", "visible_answer_tokens").count(1)
	r.Generation.HeadroomTokens = d.get("budget", "reasoning_headroom_tokens").count(0)
	r.Generation.MaxTokens = d.get("budget", "max_completion_tokens").count(1)
	names, passed := []string{}, 0.0
	for _, c := range d.get("checks").list() {
		if t := c.text(); t.has() {
			names = append(names, *t.Value)
		}
	}
	results := d.get("results").list()
	for _, c := range results {
		if ok := c.get("passed").flag(); ok.has() && *ok.Value {
			passed++
		}
	}
	r.Workload.Instances = is(names)
	r.Results.Items, r.Results.Passed = is(float64(len(results))), is(passed)
	r.Decision.Verdict = is(verdict(d.get("passed")))
	r.Notes = append(r.Notes, "the needle's length in tokens is not measured: a functional check, no evidence of a context length")
	return []*Record{r}
}

func verdict(n node) string {
	switch v := n.flag(); {
	case !v.has():
		return "undetermined"
	case *v.Value:
		return "pass"
	}
	return "fail"
}

func readAnvilControl(f *file) []*Record {
	r, d := f.record()
	r.Labels.Evidence = is([]string{"functional"})
	r.Generation.ControlStatus, r.Generation.Mechanism = d.get("status").text(), d.get("control_mechanism").text()
	r.Provenance.StartedAt = d.get("observed_at").text()
	r.Identity.Model = d.get("model").text()
	return []*Record{r}
}

func readAnvilMultimodal(f *file) []*Record {
	r, d := f.record()
	r.Labels.Evidence = is([]string{"quality"})
	id := d.get("identity")
	r.Identity.ServedName = d.get("model").text().or(id.get("model").text()).or(id.get("served_model").text())
	r.Identity.Model = r.Identity.ServedName
	r.Identity.Revision = id.get("model_revision").text().or(d.get("model_revision").text())
	r.Engine.Name = d.get("engine").text().or(id.get("engine").text())
	r.Engine.Version = id.get("engine_revision").text().or(d.get("engine_revision").text())
	r.Hardware.GPU = d.get("gpu").text().or(id.get("gpu").text())
	r.Workload.Profile = d.get("corpus_sha256").text().or(d.get("corpus", "sha256").text())
	r.Workload.Concurrency, r.Workload.Repetitions = d.get("concurrency").count(1), d.get("repetitions").count(1)
	attempts, passed := d.get("attempts").list(), 0.0
	for _, a := range attempts {
		if ok, _ := a.get("passed").v.(bool); ok || a.get("status").str() == "passed" {
			passed++
		}
	}
	if len(attempts) > 0 {
		r.Results.Items, r.Results.Passed = is(float64(len(attempts))), is(passed)
		r.Results.Score = is(passed / float64(len(attempts)))
	}
	r.Notes = append(r.Notes, "its p50 interpolates and its p95 is a nearest rank: they are not taken over")
	return []*Record{r}
}

func readAnvilSpeculative(f *file) []*Record {
	r, d := f.record()
	r.Labels.Evidence = is([]string{"capacity"})
	r.anvilIdentity(d)
	r.Workload.Method = hashOf(d.get("method"))
	on, off := d.get("mtp_on", "mean_tok_s").number(), d.get("mtp_off", "mean_tok_s").number()
	r.Results.DecodeP50 = unknown[float64]("means are recorded, not percentiles")
	r.Results.ThroughputTokS = on
	r.Results.Speedup = d.get("speedup").number()
	if !r.Results.Speedup.has() && on.has() && off.has() && *off.Value > 0 {
		r.Results.Speedup = is(*on.Value / *off.Value)
	}
	r.Memory.Speculative = is("on against off")
	return []*Record{r}
}

func readAnvilStability(f *file) []*Record {
	r, d := f.record()
	r.Labels.Evidence = is([]string{"functional"})
	r.Provenance.RunID = d.get("run_id").text()
	r.Decision.Verdict = d.get("status").text()
	r.Notes = append(r.Notes, "not eligible as a performance, as the tool itself says")
	return []*Record{r}
}

func readAnvilComparison(f *file) []*Record {
	r, d := f.record()
	id := d.get("identity")
	r.Labels.Evidence, r.Labels.Decision = is([]string{"claim"}), d.get("decision").text()
	r.Identity.Model, r.Identity.Revision = id.get("model").text(), id.get("revision").text()
	r.Identity.ServedName = id.get("served_model_name").text()
	r.Engine.Version = id.get("runtime_revision").text()
	r.Hardware.GPU = id.get("gpu").text()
	r.Workload.Protocol = d.get("measurement_protocol").text()
	r.Workload.Method = hashOf(d.get("methodology"))
	r.Workload.Repetitions = d.get("methodology", "repetitions").count(1)
	r.Decision.Verdict = d.get("decision").text()
	r.Provenance.StartedAt = d.get("observed_at").text()
	r.Notes = append(r.Notes, "made by hand from other artifacts: verify says whether its numbers follow from them")
	return []*Record{r}
}

func readAnvilSWE(f *file) []*Record {
	r, d := f.record()
	r.swe(d, d.get("grader_report"), texts(d.get("instances")))
	r.Workload.Grader = d.get("grader", "revision").text()
	if s := d.get("state").str(); s != "completed" && s != "complete" {
		d.invalid("state is %s: without the grader's report of every selected instance nothing is resolved", plain(s))
	}
	return []*Record{r}
}

func readListing(f *file) []*Record {
	r, _ := f.record()
	r.Labels.Evidence = is([]string{})
	return []*Record{r}
}
