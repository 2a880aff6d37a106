package pin

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// States of a field. A field of which both sides are known is unknown when they
// are of two kinds that cannot be held against each other; its note says why.
const (
	equal        = "equal"
	differs      = "differs"
	declaredOnly = "declared-only"
	observedOnly = "observed-only"
	unknown      = "unknown"
)

// compare lists every pin in a fixed order. Fields that the endpoint does not
// speak of are declared-only or unknown; they are listed so that a reader sees
// it.
func compare(c spec.Candidate, id llm.Identity, probe llm.TokenProbe) []evidence.PinField {
	o := observation{id, probe}
	fields := o.model(c)
	if repo := o.field("tokenizer.repo", tokenizer(c).Repo, id.TokenizerRepo, "tokenizer_repo", repositories); repo.State != unknown || repo.Note != "" {
		fields = append(fields, repo) // where nobody names one it is the model's
	}
	fields = append(fields,
		o.field("tokenizer.revision", tokenizer(c).Revision, id.TokenizerRevision, "tokenizer_revision", same(exact)),
		o.field("tokenizer.sha256", tokenizer(c).SHA256, id.TokenizerSHA256, "tokenizer_sha256", same(exact)),
		probeField(tokenizer(c).Probe, probe),
		o.field("chatTemplate.sha256", template(c), id.TemplateSHA256, "template_sha256", same(exact)),
	)
	if probe.Template != "" {
		fields = append(fields, evidence.PinField{Name: "template.probe", Observed: probe.Template, State: observedOnly, By: probe.TemplateBy})
	}
	fields = append(fields,
		o.field("engine.name", c.Engine.Name, id.EngineName, "engine_name", same(engines)),
		o.field("engine.version", c.Engine.Version, id.EngineVersion, "engine_version", same(version)),
		o.field("engine.image", c.Engine.Image, id.EngineImage, "engine_image", labels),
		field("engine.flags", strings.Join(c.Engine.Flags, " "), "", exact),
		o.field("quantization.weights", quantization(c).Weights, id.Quantization, "quantization", weights),
		o.field("quantization.kv", quantization(c).KV, id.KVCache, "kv_cache", o.cacheTypes),
		o.field("parallelism", parallelism(c), gpus(id), "tensor", o.dimensions(c)),
		o.context(c),
		o.field("speculative", speculative(c), proposed(id), "speculative", o.proposals(c)),
		o.field("cache.prefix", prefixCache(c), id.PrefixCache, "prefix_cache", same(exact)),
		o.field("admission.maxSeqs", maxSeqs(c), tokens(id.MaxSeqs), "max_seqs", same(exact)),
		field("reasoning.control", reasoning(c), "", exact),
		o.field("served", "", id.Served, "served", same(exact)),
	)
	return append(fields, o.rest()...)
}

// observation is what an endpoint told and did.
type observation struct {
	id    llm.Identity
	probe llm.TokenProbe
}

// likeness says in which state two values are, and what a reader should know.
type likeness func(declared, observed string) (state, note string)

func same(f func(a, b string) bool) likeness {
	return func(a, b string) (string, string) {
		if f(a, b) {
			return equal, ""
		}
		return differs, ""
	}
}

// field compares a pin with what a page told under the name of a field of the
// identity.
func (o observation) field(name, want, got, told string, like likeness) evidence.PinField {
	f := field(name, want, got, exact)
	if got != "" {
		f.By = o.id.By[told]
	}
	if want != "" && got != "" {
		f.State, f.Note = like(want, got)
	}
	return f
}

func field(name, want, got string, same func(a, b string) bool) evidence.PinField {
	f := evidence.PinField{Name: name, Declared: want, Observed: got, State: unknown}
	switch {
	case want != "" && got != "" && same(want, got):
		f.State = equal
	case want != "" && got != "":
		f.State = differs
	case want != "":
		f.State = declaredOnly
	case got != "":
		f.State = observedOnly
	}
	return f
}

// digest accepts either of the two digests that an engine may know: of the
// manifest, which covers template and parameters too, or of the weights alone.
func (o observation) digest(want string) evidence.PinField {
	got, told := o.id.ModelDigest, "model_digest"
	if got == "" || want != "" && o.id.WeightsDigest == want {
		got, told = o.id.WeightsDigest, "weights_digest"
	}
	return o.field("model.digest", want, got, told, same(exact))
}

func exact(a, b string) bool { return a == b }

// loose ignores case and punctuation: Q4_K_M is q4km, llama.cpp is LlamaCpp.
func loose(a, b string) bool { return letters(a) == letters(b) }

// version ignores the v that some engines put before it.
func version(a, b string) bool { return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v") }

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// Wrong names every field that differs, with both values. servedName is the
// name that the campaign declares, "" = none.
func Wrong(doc evidence.PinDoc, servedName string) []string {
	var wrong []string
	for _, f := range doc.Fields {
		if f.State == differs {
			wrong = append(wrong, fmt.Sprintf("%s: declared %s, observed %s", f.Name, f.Declared, f.Observed))
		}
	}
	if servedName != "" && llm.ShownName(servedName) != doc.Observed.Served {
		wrong = append(wrong, fmt.Sprintf("served: declared %s, observed %s", servedName, doc.Observed.Served))
	}
	return wrong
}

func (r Runner) mismatch(where string, doc evidence.PinDoc) error {
	name := ""
	if r.ServedName != nil {
		name = r.ServedName(where)
	}
	wrong := Wrong(doc, name)
	if wrong == nil {
		return nil
	}
	err := fmt.Errorf("the endpoint of %s does not serve what the campaign declares (%s)", where, strings.Join(wrong, "; "))
	return step.WithHint(step.Mark(step.ErrOutside, err), "start the declared configuration, bind the candidate to the right endpoint, or correct candidates."+where)
}

func tokens(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
