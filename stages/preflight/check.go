package preflight

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Problem is something in a campaign that a run would stumble over.
type Problem struct {
	Path []string // of the field, outermost first
	Err  error    // with a hint, where there is one
}

// Check finds what is wrong with a campaign before anything is sent: reasoning
// controls that a candidate's family does not have, and files that are not what
// their names say.
func Check(c *spec.Campaign) []Problem {
	var out []Problem
	for _, name := range slices.Sorted(maps.Keys(c.Candidates)) {
		cand := c.Candidates[name]
		out = append(out, controlProblem(cand.Reasoning, cand.Model.Repo, "candidates", name, "reasoning", "control")...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Judges)) {
		pins := c.Judges[name].Pins
		out = append(out, controlProblem(pins.Reasoning, pins.Model.Repo, "judges", name, "pins", "reasoning", "control")...)
	}
	for _, check := range slices.Sorted(maps.Keys(named(&c.Preflight))) {
		kind := "image"
		if check == "video" {
			kind = "video"
		}
		if err := looksLike(named(&c.Preflight)[check], kind); err != nil {
			out = append(out, Problem{[]string{"preflight", check, "file"}, err})
		}
	}
	return out
}

// controlProblem refuses a control that models of a declared name do not have.
func controlProblem(r *spec.Reasoning, repo string, path ...string) []Problem {
	if r == nil {
		return nil
	}
	if err := llm.CheckReasoning(r.Control, repo); err != nil {
		return []Problem{{path, err}}
	}
	return nil
}

// named are the files of the campaign by the check that shows them.
func named(p *spec.Preflight) map[string]*spec.File {
	out := map[string]*spec.File{}
	if p.Image != nil && p.Image.File != nil {
		out["image"] = p.Image.File
	}
	if p.OCR != nil && p.OCR.File != nil {
		out["ocr"] = p.OCR.File
	}
	if p.Video != nil {
		out["video"] = &p.Video.File
	}
	return out
}

// looksLike reads the beginning of a file.
func looksLike(f *spec.File, kind string) error {
	r, err := os.Open(f.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, errors.Unwrap(err))
	}
	defer r.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if _, err := sniff(head[:n], kind); err != nil {
		if h, ok := errors.AsType[*step.Hint](err); ok {
			return step.WithHint(fmt.Errorf("%s: %w", f.Name, h.Err), h.Todo)
		}
		return err
	}
	return nil
}

// Warnings are doubts about a campaign that do not stop a run.
func Warnings(c *spec.Campaign) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Candidates)) {
		cand := c.Candidates[name]
		if slices.Contains(c.Preflight.Checks, "reasoning") && (cand.Reasoning == nil || cand.Reasoning.Control == "none") &&
			(c.Preflight.Reasoning == nil || c.Preflight.Reasoning.Require == "verified") {
			out = append(out, fmt.Sprintf("candidate %s declares no reasoning control, so the preflight check reasoning can verify none and refuses it; declare one, or write preflight.reasoning.require: not-contradicted", name))
		}
		if w := tooLong(&c.Preflight, cand); w != "" {
			out = append(out, fmt.Sprintf("candidate %s: %s", name, w))
		}
	}
	return out
}

// tooLong says which check's prompt the declared context has no room for.
func tooLong(p *spec.Preflight, c spec.Candidate) string {
	if c.Context == nil || c.Context.Served == 0 {
		return ""
	}
	room := visibleTokens(c.Sampling)
	if c.Reasoning != nil {
		room += c.Reasoning.HeadroomTokens
	}
	long := defaultLongTools.PromptTokens
	if p.LongTools != nil {
		long = p.LongTools.PromptTokens
	}
	wants := map[string]int{"long-tools": long}
	if p.Needle != nil {
		wants["needle"] = p.Needle.PromptTokens
	}
	for _, check := range slices.Sorted(maps.Keys(wants)) {
		if n := wants[check]; slices.Contains(p.Checks, check) && n+room > c.Context.Served {
			return fmt.Sprintf("the preflight check %s sends %d tokens and leaves room for %d, and the declared context is %d", check, n, room, c.Context.Served)
		}
	}
	return ""
}
