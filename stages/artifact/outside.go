package artifact

import (
	"slices"
	"strings"
)

// outOfScope are shapes that are named, so that nobody wonders: nothing of
// them is compared.
var outOfScope = []Format{
	outside("voice", OutOfScope, "speech: voice-stt-benchmark/v1, stt-benchmark-evidence/v1, voice-benchmark-evidence/v1 and lists of such", "voice-", "stt-", "tts-", "anvil-serving.voice", "realtime-"),
	outside("router", OutOfScope, "a router's profiles: router.profile_bootstrap/v1 and v2, routed-client-eval/v2", "router.", "routed-client-eval/", "anvil-serving.router"),
	outside("cache-inventory", Listing, "which weights lie in a cache: model-cache-inventory/v1", "model-cache-inventory/", "anvil-serving.model-cache-inventory/"),
	outsideWith("source-registry", Prior, "what was read, in eight spellings of source-registry: priors, never evidence", "source-registry", "benchmark-sources", "source_registry"),
	outsideWith("hardware", Listing, "hardware and specification snapshots, sampled power", "hardware-snapshot", "hardware-sampling", "speculative-decoding-snapshot", "-observation/", "-snapshot/"),
	outsideWith("summary", Narrative, "qualification summaries, public summaries, sanitized excerpts, recommendations, promotions: numbers without rows, so claims", "qualification-summary", "benchmark-summary", "sanitized", "recommendation", "promotion", "-decision", "-comparison", "-summary", "deepseek-r33", "-qualification", "-report/", "-evidence/", "-result/", "-results/", "-audit", "-manifest", "-plan/", "-catalog", "-index/", "-probe/", "-matrix", "-campaign", "-state/", "bakeoff"),
	{Name: "out-of-scope/job", Kind: Listing, Doc: "what belongs to a job and is no result: job specifications, profiles, plans, preflights and assets of jobs, corpora, scenarios, graphs",
		is: func(f *file) bool {
			return strings.HasPrefix(f.schema, "anvil-serving") || strings.HasPrefix(f.schema, "multimodal-corpus/") || strings.HasPrefix(f.schema, "stability-")
		}, read: readNamed},
	{Name: "suite", Kind: Listing, Doc: "an item set (*.suite.json): cupel items and cupel score read answers to one",
		is: func(f *file) bool { return f.holds("suite", "evals") || f.holds("evals", "date") }, read: readNamed},
	{Name: "note", Kind: Narrative, Doc: "hand-written JSON without a schema: dates, models, numbers and no rows, so claims",
		is: func(f *file) bool {
			return f.schema == "" && slices.ContainsFunc([]string{"model", "models", "date", "candidates", "decision", "identity", "summary", "runs", "results", "source", "sources"}, func(n string) bool { return f.doc.get(n).has() })
		}, read: readNamed},
	{Name: "list", Kind: OutOfScope, Doc: "a JSON list without a schema",
		is: func(f *file) bool { return f.doc.isList() && len(f.doc.list()) > 0 && f.doc.list()[0].isObject() }, read: readNamed},
}

// outside is a shape by how its schema begins.
func outside(name string, kind Kind, doc string, prefixes ...string) Format {
	return Format{Name: "out-of-scope/" + name, Kind: kind, Doc: doc, Schema: strings.Join(prefixes, ", "),
		is:   func(f *file) bool { return f.hasSchema(prefixes...) },
		read: readNamed}
}

// outsideWith is a shape by what its schema contains.
func outsideWith(name string, kind Kind, doc string, parts ...string) Format {
	return Format{Name: "out-of-scope/" + name, Kind: kind, Doc: doc, Schema: "…" + strings.Join(parts[:min(3, len(parts))], "…, …") + "…",
		is: func(f *file) bool {
			return f.schema != "" && !strings.HasPrefix(f.schema, "cupel/") && slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(f.schema, p) })
		},
		read: readNamed}
}

func readNamed(f *file) []*Record {
	r, d := f.record()
	r.Labels.Evidence = is([]string{"claim"})
	if m := d.get("model"); m.str() != "" {
		r.Identity.Model = m.text()
	}
	r.Notes = append(r.Notes, "named, and not compared")
	return []*Record{r}
}
