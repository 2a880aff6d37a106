package prior

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// What a metric speaks of, by the first part of its name.
var (
	limits = []string{"context", "model", "tokenizer", "quantization", "parameters", "format", "modality", "license", "architecture", "vocabulary"}
	recipe = []string{"engine", "recipe", "flags", "parallelism", "admission", "cache", "speculative", "quantization"}
)

// scope reports whether a kind of source is an authority for a metric.
func (k classifier) scope(metric string) bool {
	first, _, _ := strings.Cut(metric, ".")
	book := slices.Contains(recipe, first) || metric == "context.served"
	card := slices.Contains(limits, first) && metric != "context.served" // what an engine is set to
	switch k.src.Kind {
	case "model-card":
		return metric == "" || card
	case "engine-cookbook":
		return metric == "" || book
	case "vendor-post":
		return k.src.OwnsFact && (metric == "" || card || book)
	}
	return false
}

// authority is what each kind is primary for, in words.
var authority = map[string]string{
	"model-card":      "a model card is primary for its own format and advertised limits",
	"engine-cookbook": "an engine's cookbook is primary for its recipe",
	"vendor-post":     "a vendor is primary for the limits and recipes of what it makes",
}

// role says what a claim of a metric is, or the source itself when metric is "".
func (k classifier) role(metric string, s support) (role, reason string) {
	role, reason = k.undated(metric, s)
	borne := s.local || s.official
	switch {
	case k.src.Age == evidence.Stale && !borne:
		return evidence.HistoricalLead, fmt.Sprintf("stale (%s), and neither current official material nor a measurement bears it out", ageText(k.src))
	case k.src.Age == evidence.AgeUnknown && !borne && role == evidence.Primary:
		return evidence.Lead, "the source does not say when it was published, so it counts as not current"
	case k.src.Age == evidence.AgeUnknown && !borne:
		return role, reason + "; the source does not say when it was published"
	case k.src.Age == evidence.Stale:
		return role, reason + "; stale (" + ageText(k.src) + ") and borne out"
	}
	return role, reason
}

// undated is the role that the kind gives, whatever the age.
func (k classifier) undated(metric string, s support) (role, reason string) {
	switch {
	case k.src.Kind == "advisory":
		return evidence.Lead, "an advisory is a fit estimate, not a measurement on this hardware"
	case k.scope(metric):
		return evidence.Primary, authority[k.src.Kind]
	case k.src.OwnsFact && s.local:
		return evidence.Primary, "its publisher owns the fact, and a measurement of this campaign bears it out"
	case k.src.OwnsFact:
		return evidence.Lead, "its publisher owns the fact, and no measurement of this campaign bears it out"
	case metric != "" && authority[k.src.Kind] != "":
		return evidence.Lead, authority[k.src.Kind] + ", not for " + metric
	}
	return evidence.Lead, k.notOwned()
}

func (k classifier) notOwned() string {
	if k.src.Publisher == "" {
		return "nobody is named who owns the fact"
	}
	return k.src.Publisher + " does not own the fact"
}

func ageText(s *evidence.ResearchSource) string {
	if s.AgeDays == nil {
		return "no day of publication"
	}
	return fmt.Sprintf("%d days old", *s.AgeDays)
}
