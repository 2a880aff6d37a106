package artifact

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// Verification says which numbers of a file follow from its rows, and from the
// files that it names by digest.
type Verification struct {
	Format     string     `json:"format"`
	Checked    int        `json:"checked"`    // numbers and checksums that were recomputed
	Follow     int        `json:"follow"`     // of them, those that follow
	Mismatches []Mismatch `json:"mismatches"` // those that do not
	Not        []string   `json:"not_checked"`
}

// Mismatch is a number that does not follow.
type Mismatch struct {
	Field  string   `json:"field"`
	Stated any      `json:"stated"`
	Found  *float64 `json:"found"` // nil = there is none
	Why    string   `json:"why"`
}

// Named finds another file by its digest; nil = it is not there.
type Named func(step.Digest) []byte

// rounding is the relative difference that the sums of another language may
// have.
const rounding = 1e-9

// Verify recomputes the aggregates of a file from its rows. named finds the
// artifacts that a comparison was made from; nil = there are none.
func Verify(content []byte, named Named) (*Verification, error) {
	doc, err := Read(content, Options{})
	if err != nil {
		return nil, err
	}
	v := &Verification{Format: doc.Format, Mismatches: []Mismatch{}, Not: []string{}}
	for _, r := range doc.Records {
		for _, s := range r.Invalid {
			v.Checked++
			v.Mismatches = append(v.Mismatches, Mismatch{Field: doc.Format + partName(r), Stated: "invalid", Why: s})
		}
	}
	check, ok := verifiers[doc.Format]
	value, _, err := parse(content)
	if !ok || err != nil {
		v.not("a file of %s holds no rows that its numbers could be recomputed from", doc.Format)
		return v, nil
	}
	var bad []string
	check(node{value, "", &bad}, v, named)
	slices.SortStableFunc(v.Mismatches, func(a, b Mismatch) int { return strings.Compare(a.Field, b.Field) })
	slices.Sort(v.Not)
	return v, nil
}

func partName(r *Record) string {
	if r.Part == "" {
		return ""
	}
	return "#" + r.Part
}

var verifiers = map[string]func(node, *Verification, Named){
	"anvil/capacity":   func(d node, v *Verification, _ Named) { verifyCapacity(d, v) },
	"anvil/quality":    func(d node, v *Verification, _ Named) { verifyQuality(d, v) },
	"anvil/preflight":  func(d node, v *Verification, _ Named) { verifyPreflight(d, v) },
	"anvil/campaign":   func(d node, v *Verification, _ Named) { verifyContext(d, v) },
	"anvil/comparison": verifyComparison,
	"asiai/export":     func(d node, v *Verification, _ Named) { verifyAsiai(d, v) },
	"vllm-bench":       func(d node, v *Verification, _ Named) { verifyVLLM(d, v) },
	"promptfoo":        func(d node, v *Verification, _ Named) { verifyPromptfoo(d, v) },
	"swe-bench/report": func(d node, v *Verification, _ Named) { verifySWE(d, v) },
}

// number holds a stated number against what the rows give. tolerance is
// relative.
func (v *Verification) number(name string, stated node, found Number, tolerance float64) {
	if !stated.has() {
		return
	}
	s, ok := stated.num()
	switch {
	case !ok:
		v.wrong(name, "malformed", found, "it is no number")
		return
	case !found.has():
		v.wrong(name, s, found, "the rows give none: "+found.Unknown)
		return
	}
	if math.Abs(s-*found.Value) <= tolerance*math.Max(math.Abs(s), math.Abs(*found.Value)) {
		v.follows()
		return
	}
	v.wrong(name, s, found, "the rows give "+number(*found.Value))
}

func (v *Verification) follows() { v.Checked, v.Follow = v.Checked+1, v.Follow+1 }

func (v *Verification) wrong(name string, stated any, found Number, why string) {
	v.Checked++
	v.Mismatches = append(v.Mismatches, Mismatch{name, stated, found.Value, why})
}

// Same notes whether a checksum is what it should be.
func (v *Verification) Same(name string, ok bool, why string) {
	if ok {
		v.follows()
		return
	}
	v.wrong(name, "checksum", Number{}, why)
}

func (v *Verification) not(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(v.Not, s) {
		v.Not = append(v.Not, s)
	}
}

// Unchecked notes what was not looked at.
func (v *Verification) Unchecked(format string, args ...any) { v.not(format, args...) }
