package artifact

import (
	"fmt"
	"math"
	"reflect"
	"slices"
)

// Unit is one record of a comparison.
type Unit struct {
	Name   string  `json:"name"` // the file, and the part after a #
	Record *Record `json:"-"`
}

// Comparison says whether records may be compared, and why not.
type Comparison struct {
	Comparable  bool                `json:"comparable"`
	Units       []string            `json:"units"`
	Differences map[string][]any    `json:"differences"`            // of fields that make it another experiment; null = not known
	Unknown     map[string][]string `json:"unknown_fields"`         // controls that are not known, and of which
	Invalid     map[string][]string `json:"invalid_artifacts"`      // what makes one no evidence
	Provenance  map[string][]any    `json:"provenance_differences"` // what an A/B is about
	Cautions    []string            `json:"cautions"`               // what a reader should know
}

// MinUnits and MaxUnits bound how many are compared at once.
const (
	MinUnits = 2
	MaxUnits = 20
)

// Compare compares records field by field. It fails closed: what is not known
// is not taken to be equal. A file compared with itself is equal to itself,
// unknown controls included, unless it is invalid or no measurement.
func Compare(units []Unit) Comparison {
	c := Comparison{Units: []string{}, Differences: map[string][]any{}, Unknown: map[string][]string{}, Invalid: map[string][]string{}, Provenance: map[string][]any{}, Cautions: []string{}}
	fields := make([]map[string]Field, len(units))
	for i, u := range units {
		c.Units = append(c.Units, u.Name)
		fields[i] = byName(u.Record)
		if len(u.Record.Invalid) > 0 {
			c.Invalid[u.Name] = u.Record.Invalid
		}
		if why := incomparable[u.Record.Kind]; why != "" {
			c.Invalid[u.Name] = append(slices.Clone(c.Invalid[u.Name]), fmt.Sprintf("%s: %s", u.Record.Kind, why))
		}
	}
	same := sameFile(units)
	c.kinds(units)
	for i := range Rules {
		c.field(&Rules[i], units, fields, same)
	}
	if !same {
		c.quality(units, fields)
	}
	c.Comparable = len(c.Differences) == 0 && len(c.Unknown) == 0 && len(c.Invalid) == 0
	return c
}

func byName(r *Record) map[string]Field {
	out := map[string]Field{}
	for _, f := range r.Fields() {
		out[f.Name] = f
	}
	return out
}

// sameFile reports whether all units are the same part of the same bytes.
func sameFile(units []Unit) bool {
	for _, u := range units[1:] {
		a, b := units[0].Record, u.Record
		if a.Source.SHA256 != b.Source.SHA256 || a.Part != b.Part || a.Source.SHA256.IsZero() {
			return false
		}
	}
	return true
}

func (c *Comparison) kinds(units []Unit) {
	var kinds, schemas []any
	for _, u := range units {
		kinds, schemas = distinct(kinds, string(u.Record.Kind)), distinct(schemas, u.Record.Source.Format)
	}
	if len(kinds) > 1 {
		c.Differences["kind"] = kinds
	}
	if len(schemas) > 1 {
		c.Differences["format"] = schemas
	}
}

func distinct(list []any, v any) []any {
	for _, have := range list {
		if reflect.DeepEqual(have, v) {
			return list
		}
	}
	return append(list, v)
}

// field compares one field of all units.
func (c *Comparison) field(rule *Rule, units []Unit, fields []map[string]Field, same bool) {
	var values []any
	known, missing := 0, []string{}
	for i, u := range units {
		f := fields[i][rule.Field]
		if values = distinct(values, f.Value); f.Value != nil {
			known++
		} else {
			missing = append(missing, u.Name)
		}
		if f.Value == nil && slices.Contains(rule.Required, u.Record.Kind) && !same {
			c.Unknown[rule.Field] = append(c.Unknown[rule.Field], u.Name)
		}
	}
	blocks := rule.Class == Blocks && (rule.Only == nil || slices.ContainsFunc(units, func(u Unit) bool { return slices.Contains(rule.Only, u.Record.Kind) }))
	switch {
	case known == 0, len(values) == 1:
		c.alike(rule, fields, known)
		return
	case !blocks:
		c.Provenance[rule.Field] = values
		return
	case len(missing) > 0 && rule.Soft:
		c.caution("%s is not known of %s", rule.Field, missing[0])
		if values = slices.DeleteFunc(values, func(v any) bool { return v == nil }); len(values) < 2 {
			return
		}
	}
	c.differ(rule, values)
}

// alike tells what is equal and speaks against all of them.
func (c *Comparison) alike(rule *Rule, fields []map[string]Field, known int) {
	if known == 0 {
		return
	}
	switch v := fields[0][rule.Field].Value.(type) {
	case float64:
		if rule.Field == "results.failed" && v > 0 {
			c.caution("results.failed: %g requests failed on each side, so the numbers describe the survivors", v)
		}
	case bool:
		if rule.Field == "results.client_bound" && v {
			c.caution("results.client_bound: the client was the bottleneck on each side")
		}
	}
}

// differ notes a difference unless it is within the rule's tolerance.
func (c *Comparison) differ(rule *Rule, values []any) {
	apart, numbers := spread(values, rule.Absolute)
	if !numbers || apart > rule.Apart {
		c.Differences[rule.Field] = values
		return
	}
	if rule.Caution > 0 && apart > rule.Caution {
		c.caution("%s: %s, so that times of whole answers do not belong side by side", rule.Field, against(values))
	}
}

// spread is the largest difference of numbers, as a share of the largest.
func spread(values []any, absolute bool) (float64, bool) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		f, ok := v.(float64)
		if !ok {
			return 0, false
		}
		low, high = min(low, f), max(high, f)
	}
	if absolute {
		return high - low, true
	}
	if most := max(math.Abs(low), math.Abs(high)); most > 0 {
		return (high - low) / most, true
	}
	return 0, true
}

func against(values []any) string {
	out := ""
	for i, v := range values {
		if i > 0 {
			out += " against "
		}
		out += show(v)
	}
	return out
}

func (c *Comparison) caution(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); len(c.Cautions) < 100 && !slices.Contains(c.Cautions, s) {
		c.Cautions = append(c.Cautions, s)
	}
}

// quality adds what a ranking of answers needs beside equal fields.
func (c *Comparison) quality(units []Unit, fields []map[string]Field) {
	for i, u := range units {
		if u.Record.Kind != Quality {
			continue
		}
		need := func(name string, ok bool) {
			if !ok {
				c.Unknown[name] = append(c.Unknown[name], u.Name)
			}
		}
		suites, _ := fields[i]["workload.suites"].Value.([]Suite)
		anvil := u.Record.Source.Format == "anvil/quality"
		for _, s := range suites {
			need("workload.suites.source_sha256", s.SHA256 != "")
			need("workload.suites.evidence_use=ranking", !anvil || s.Use == "ranking")
			need("workload.suites.strong_validator", !anvil || s.Validator == "exact_choice" || s.Validator == "typed_structure")
		}
		if !anvil {
			continue
		}
		version, _ := fields[i]["workload.protocol_version"].Value.(float64)
		need("workload.protocol_version=3", version == 3)
		times, _ := fields[i]["workload.repetitions"].Value.(float64)
		need("workload.repetitions>=3", times >= 3)
		status, _ := fields[i]["generation.control_status"].Value.(string)
		need("generation.control_status=verified", status == "verified" || status == "supported")
		need("generation.control_evidence_sha256", fields[i]["generation.control_evidence_sha256"].Value != nil)
		for _, f := range []string{"generation.visible_answer_tokens", "generation.reasoning_headroom_tokens", "workload.minimum_pass_rate"} {
			need(f, fields[i][f].Value != nil)
		}
	}
	for name, list := range c.Unknown {
		c.Unknown[name] = slices.Compact(list)
	}
}
