package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/publish"
)

const (
	cupelTool = "cupel"
	ownFormat = "cupel/evidence"
)

// cupelFormats are the files that cupel itself writes.
var cupelFormats = []Format{
	{Name: ownFormat, Kind: Capacity, Schema: Schema, Doc: "this form itself, as evidence import writes it",
		is: func(f *file) bool {
			return f.schema == Schema || f.schema == earlierSchema || f.doc.get("records").isList() && f.doc.get("format").str() != ""
		}, read: readOwn},
	{Name: "cupel/record", Tool: cupelTool, Kind: Capacity, Schema: publish.RecordSchema, Doc: "record.json of a finding: a part for each candidate's cells and quality workloads",
		is: func(f *file) bool { return f.schema == publish.RecordSchema }, read: readCupelRecord},
	{Name: "cupel/decision", Tool: cupelTool, Kind: Decided, Schema: "cupel/decision/v1", Doc: "decision.json of a finding: a part for each candidate",
		is: func(f *file) bool { return f.schema == "cupel/decision/v1" }, read: readCupelDecision},
	{Name: "cupel/findings", Tool: cupelTool, Kind: Listing, Schema: publish.FindingsSchema, Doc: "index.json of a folder of findings",
		is: func(f *file) bool { return f.schema == publish.FindingsSchema }, read: readListing},
	{Name: "cupel/artifact-set", Tool: cupelTool, Kind: Listing, Schema: publish.ArtifactSetSchema, Doc: "artifact-set.json of a finding: which file plays which of ten roles",
		is: func(f *file) bool { return f.schema == publish.ArtifactSetSchema }, read: readListing},
	{Name: "cupel/evidence-index", Tool: cupelTool, Kind: Listing, Doc: "evidence/index.json of a finding: raw outputs by digest",
		is: func(f *file) bool {
			l := f.doc.list()
			return f.doc.isList() && (len(l) == 0 || l[0].get("step").has() && l[0].get("output").has() && l[0].get("sha256").has())
		}, read: readListing},
	{Name: "cupel/spec", Tool: cupelTool, Kind: Specification, Doc: "spec.json of a finding: the canonical campaign",
		is: func(f *file) bool { return f.doc.get("apiVersion").str() == spec.APIVersion }, read: readCupelSpec},
	{Name: "cupel/pin", Tool: cupelTool, Kind: Pinned, Doc: "pin.json: what a candidate declares and what its endpoint says",
		is: func(f *file) bool { return f.holds("declared", "observed", "fields") }, read: readCupelPin},
	{Name: "cupel/metrics", Tool: cupelTool, Kind: Capacity, Doc: "metrics.json: a candidate's cells on one serving workload",
		is: func(f *file) bool { return f.doc.get("cells").isList() && f.holds("workload", "kind", "protocol") }, read: readCupelMetrics},
	{Name: "cupel/preflight", Tool: cupelTool, Kind: Preflight, Doc: "preflight.json: a candidate's checks",
		is: func(f *file) bool {
			return f.doc.get("checks").isList() && f.doc.get("passed").has() && f.schema == "" && len(f.doc.names()) == 2
		}, read: readCupelPreflight},
	{Name: "cupel/comparison", Tool: cupelTool, Kind: ABComparison, Doc: "comparison.json or noise.json: paired statistics of one quality workload",
		is: func(f *file) bool { return f.doc.get("stats").isObject() && f.holds("workload", "agreement") }, read: readCupelComparison},
	{Name: "cupel/summary", Tool: cupelTool, Kind: Quality, Doc: "summary.json: a scored generation",
		is: func(f *file) bool { return f.holds("stratify", "overall", "scorers") }, read: readCupelSummary},
	{Name: "cupel/cell", Tool: cupelTool, Kind: Capacity, Doc: "cell.jsonl: the header of a cell and its requests, one a line",
		is: func(f *file) bool { return f.holds("kind", "cell", "loop", "requests", "prompts") }, read: readCupelCell},
	{Name: "cupel/rows", Tool: cupelTool, Kind: Rows, Doc: "responses, timings, scores, items and scrapes: raw rows, one a line",
		is: isCupelRows, read: readCupelRows},
}

// readOwn reads records that import wrote. They are kept as they are, source
// included: a record is evidence of the file that it came from.
func readOwn(f *file) []*Record {
	var doc Document
	one := new(Record)
	content, err := f.upgraded()
	if err == nil && f.doc.get("records").isList() {
		err = strict(content, &doc)
	} else if err == nil {
		err = strict(content, one)
		doc.Records = []*Record{one}
	}
	if err != nil {
		r := &Record{Invalid: []string{"it is not of the form " + Schema + ": " + plain(err.Error())}}
		return []*Record{r}
	}
	for i, r := range doc.Records {
		if r == nil || r.Schema != Schema {
			r = &Record{}
			doc.Records[i] = r
			r.Invalid = append(r.Invalid, "a record is not of the schema "+Schema)
		}
	}
	return doc.Records
}

func strict(content []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// typed decodes a document of cupel's own; what does not fit is noted.
func (f *file) typed(v any) *Record {
	r := new(Record)
	if err := json.Unmarshal(f.content, v); err != nil {
		r.Invalid = append(r.Invalid, plain(err.Error()))
	}
	return r
}

func readCupelRecord(f *file) (out []*Record) {
	var rec evidence.Record
	head := f.typed(&rec)
	head.Kind = Listing
	if len(head.Invalid) > 0 {
		return []*Record{head}
	}
	campaign := f.campaign(&rec)
	for _, name := range slices.Sorted(maps.Keys(rec.Candidates)) {
		c := rec.Candidates[name]
		for _, wl := range slices.Sorted(maps.Keys(c.Load)) {
			m := c.Load[wl]
			for i := range m.Cells {
				r := cellRecord(&m, i)
				r.Part = fmt.Sprintf("%s/%s/%s", name, wl, m.Cells[i].Name)
				r.ofCampaign(&rec, name, wl, campaign)
				out = append(out, r)
			}
		}
		for _, wl := range slices.Sorted(maps.Keys(c.Scores)) {
			s := c.Scores[wl]
			r := scoreRecord(&s)
			r.Part = name + "/" + wl
			r.ofCampaign(&rec, name, wl, campaign)
			out = append(out, r)
		}
		if c.Preflight != nil {
			r := preflightRecord(c.Preflight)
			r.Part = name + "/preflight"
			r.ofCampaign(&rec, name, "preflight", campaign)
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		head.Notes = append(head.Notes, "nothing was measured")
		head.Provenance.SpecHash = is(rec.SpecHash.String())
		return []*Record{head}
	}
	return out
}

// campaign is the one beside the record, when it is the record's own; without
// one it is empty.
func (f *file) campaign(rec *evidence.Record) (c spec.Campaign) {
	b := f.siblings["spec.json"]
	if b == nil {
		f.notes = append(f.notes, "spec.json is not beside the record: workloads are known by the campaign's hash and their names alone")
		return c
	}
	if err := json.Unmarshal(b, &c); err != nil || step.SpecDigest(b) != rec.SpecHash {
		f.notes = append(f.notes, "spec.json beside the record cannot be read, or is of another campaign")
		return spec.Campaign{}
	}
	return c
}

// ofCampaign adds what a campaign's record says beside the numbers.
func (r *Record) ofCampaign(rec *evidence.Record, candidate, workload string, campaign spec.Campaign) {
	r.Decision.Question, r.Provenance.SpecHash = said(rec.Question), is(rec.SpecHash.String())
	r.Provenance.StartedAt = r.Provenance.StartedAt.or(said(rec.Date))
	r.Labels.Evidence = is(slices.DeleteFunc(slices.Clone(*r.Labels.Evidence.Value), func(l string) bool { return !slices.Contains(rec.Labels[candidate], l) }))
	r.pinned(rec.Candidates[candidate].Pin)
	if c, ok := campaign.Candidates[candidate]; ok && rec.Candidates[candidate].Pin == nil {
		r.pinned(&evidence.PinDoc{Declared: c})
		r.Generation = Generation{} // what was sent, another tool knows
		r.Notes = append(r.Notes, "identity, engine and memory are as declared: nothing of them was observed")
	}
	if r.Kind == Preflight {
		return
	}
	id := "campaign:" + rec.SpecHash.String() + "/" + workload
	if w, ok := campaign.Measure[workload]; ok {
		if b, err := json.Marshal(sentBy(w, campaign)); err == nil {
			id = "workload:" + *hashOf(node{v: string(b)}).Value
		}
		if e := w.Energy; e != nil {
			w = campaign.Measure[e.Of]
		}
		r.asked(w)
	}
	if r.Kind == Quality {
		r.Workload.Suites = is([]Suite{r.suiteOf(campaign.Measure[workload], workload, rec)})
		return
	}
	r.Workload.PromptSet = is(id)
}

// sentBy is what makes the requests of a workload. Of energy that is the workload
// whose requests are sent, and how long; the recordings and what is declared of a
// wall meter are results.
func sentBy(w spec.Workload, campaign spec.Campaign) any {
	if w.Energy == nil {
		return w
	}
	e := *w.Energy
	e.Traces, e.Calibration, e.Bases = nil, nil, nil
	return []any{e, campaign.Measure[e.Of]}
}

// suiteOf is the item set of a quality workload; without the campaign beside
// the record its identity is the campaign's.
func (r *Record) suiteOf(w spec.Workload, name string, rec *evidence.Record) Suite {
	if q := w.Quality; q != nil {
		return Suite{Name: plain(q.Suite.Name), SHA256: q.Suite.Items.Digest.String()}
	}
	return Suite{Name: plain(name), SHA256: *hashOf(node{v: rec.SpecHash.String() + name}).Value}
}

// asked is what the campaign asks of a workload.
func (r *Record) asked(w spec.Workload) {
	switch {
	case w.Capacity != nil:
		c := w.Capacity
		r.Workload.CachePolicy = is(c.Prompt.Cache)
		r.Workload.ResponseWords, r.Workload.OutputPolicy = is(float64(c.Output.Words)), said(c.Output.Policy)
		r.Workload.Canaries = is(c.Prompt.Canary)
		if c.Prompt.Tokens > 0 {
			r.Workload.Context = is(float64(c.Prompt.Tokens))
		}
		if c.Seed != 0 {
			r.Workload.ContextSeed = is(float64(c.Seed))
		}
		r.Workload.SharedTokens = is(float64(c.Prompt.SharedTokens))
	case w.Quality != nil:
		r.Workload.Repetitions = is(float64(w.Quality.Samples * w.Quality.Repeats))
	case w.Decode != nil:
		r.Workload.ResponseWords = is(0.0)
	}
}

// pinned is a candidate as declared and observed.
func (r *Record) pinned(p *evidence.PinDoc) {
	if p == nil {
		return
	}
	c := &p.Declared
	r.Identity.Model, r.Identity.Revision = said(c.Model.Repo).or(said(p.Observed.Served)), said(c.Model.Revision)
	r.Identity.ServedName = said(p.Observed.Served).or(said(c.ServedName))
	r.Identity.Weights = said(c.Model.SHA256).or(said(p.Observed.ModelDigest))
	r.Identity.License, r.Identity.ChatTemplate = said(c.Model.License), said(p.Observed.TemplateSHA256)
	if t := c.Tokenizer; t != nil {
		r.Identity.Tokenizer = said(t.SHA256).or(said(t.Revision))
	}
	r.Engine = Engine{Name: said(p.Observed.EngineName).or(said(c.Engine.Name)), Version: said(p.Observed.EngineVersion).or(said(c.Engine.Version)), Image: said(c.Engine.Image)}
	if len(c.Engine.Flags) > 0 {
		r.Engine.Flags = hashOf(node{v: strings.Join(c.Engine.Flags, "\n")})
	}
	r.memory(p)
	r.ranOn(p)
	g := &r.Generation
	g.Temperature, g.TopP, g.Seed, g.MaxTokens = is(c.Sampling.Temperature), is(c.Sampling.TopP), is(float64(c.Sampling.Seed)), is(float64(c.Sampling.MaxTokens))
	g.ThinkingMode, g.NoThinking, g.Effort, g.Mechanism = thinking(c.Reasoning)
	if rs := c.Reasoning; rs != nil {
		g.HeadroomTokens = is(float64(rs.HeadroomTokens))
	}
}

func (r *Record) memory(p *evidence.PinDoc) {
	c, m := &p.Declared, &r.Memory
	if c.Context != nil && c.Context.Served > 0 {
		m.ServedContext = is(float64(c.Context.Served))
	} else if n := p.Observed.ContextLength; n > 0 {
		m.ServedContext = is(float64(n))
	}
	if q := c.Quantization; q != nil {
		m.Weights, m.KV = said(q.Weights), said(q.KV)
	}
	m.Weights = m.Weights.or(said(p.Observed.Quantization))
	if t := c.Parallelism; t != nil {
		m.Tensor, m.Pipeline, m.Data = is(float64(t.Tensor)), is(float64(t.Pipeline)), is(float64(t.Data))
	}
	if c.Admission != nil {
		m.MaxSeqs = is(float64(c.Admission.MaxSeqs))
	}
	if c.Cache != nil && c.Cache.Prefix != "unknown" {
		m.PrefixCache = is(c.Cache.Prefix)
	}
	if c.Speculative != nil {
		m.Speculative = said(c.Speculative.Method)
	}
}

// thinking turns a reasoning control into the words of the record.
func thinking(r *spec.Reasoning) (mode Text, no Flag, effort, mechanism Text) {
	if r == nil {
		const why = "the candidate declares no reasoning control"
		return is("default"), is(false), is("none"), unknown[string](why)
	}
	switch control := r.Control; {
	case control == "thinking-on":
		return is("enabled"), is(false), is("none"), is("chat_template_kwargs")
	case control == "thinking-off":
		return is("disabled"), is(true), is("none"), is("chat_template_kwargs")
	case strings.HasPrefix(control, "effort-"):
		return is("default"), is(false), is(strings.TrimPrefix(control, "effort-")), is("reasoning_effort")
	}
	return is("default"), is(false), is("none"), is("none")
}
