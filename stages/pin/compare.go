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

// States of a field.
const (
	equal        = "equal"
	differs      = "differs"
	declaredOnly = "declared-only"
	observedOnly = "observed-only"
	unknown      = "unknown"
)

// compare lists every pin in a fixed order. Fields that no endpoint speaks of
// are declared-only or unknown; they are listed so that a reader sees it.
func compare(c spec.Candidate, id llm.Identity, probe llm.TokenProbe) []evidence.PinField {
	fields := []evidence.PinField{
		field("model.repo", c.Model.Repo, "", exact),
		field("model.revision", c.Model.Revision, "", exact),
		digest(c.Model.SHA256, id),
		field("tokenizer.revision", tokenizer(c).Revision, "", exact),
		field("tokenizer.sha256", tokenizer(c).SHA256, id.TokenizerSHA256, exact),
		probeField(tokenizer(c).Probe, probe),
		field("chatTemplate.sha256", template(c), id.TemplateSHA256, exact),
		field("engine.name", c.Engine.Name, id.EngineName, loose),
		field("engine.version", c.Engine.Version, id.EngineVersion, version),
		field("engine.image", c.Engine.Image, "", exact),
		field("engine.flags", strings.Join(c.Engine.Flags, " "), "", exact),
		field("quantization.weights", quantization(c).Weights, id.Quantization, loose),
		field("quantization.kv", quantization(c).KV, "", exact),
		field("parallelism", parallelism(c), "", exact),
		field("context.served", tokens(contextLimit(c).Served), tokens(id.ContextLength), exact),
		field("speculative", speculative(c), "", exact),
		field("cache.prefix", prefixCache(c), "", exact),
		field("admission.maxSeqs", maxSeqs(c), "", exact),
		field("reasoning.control", reasoning(c), "", exact),
		field("served", "", id.Served, exact),
	}
	return append(fields, parameters(id)...)
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
func digest(want string, id llm.Identity) evidence.PinField {
	got := id.ModelDigest
	if got == "" || want != "" && id.WeightsDigest == want {
		got = id.WeightsDigest
	}
	return field("model.digest", want, got, exact)
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

// mismatch names every field that differs, with both values.
func (r Runner) mismatch(where string, doc evidence.PinDoc) error {
	var wrong []string
	for _, f := range doc.Fields {
		if f.State == differs {
			wrong = append(wrong, fmt.Sprintf("%s: declared %s, observed %s", f.Name, f.Declared, f.Observed))
		}
	}
	if r.ServedName != nil {
		if want := r.ServedName(where); want != "" && want != doc.Observed.Served {
			wrong = append(wrong, fmt.Sprintf("served: declared %s, observed %s", want, doc.Observed.Served))
		}
	}
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
