package preflight

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/pin"
)

// params are what the checks that are made depend on. The settings of checks
// that are not made are left out: changing them repeats nothing.
type params struct {
	Checks    []string             `json:"checks"`
	Compat    string               `json:"compat,omitempty"`
	Needle    *spec.NeedleCheck    `json:"needle,omitempty"`
	Tools     *spec.ToolsCheck     `json:"tools,omitempty"`
	LongTools *spec.LongToolsCheck `json:"longTools,omitempty"`
	JSON      *spec.JSONCheck      `json:"json,omitempty"`
	Generate  *spec.GenerateCheck  `json:"generate,omitempty"`
	Reasoning *spec.ReasoningCheck `json:"reasoning,omitempty"`
	Seed      *spec.SeedCheck      `json:"seed,omitempty"`
	Shown     map[string]shown     `json:"shown,omitempty"` // check -> what is asked of a file of the user's
	Evidence  *spec.EvidencePolicy `json:"evidence,omitempty"`
	Sampling  spec.Sampling        `json:"sampling"`
}

// shown is a question about a file, which is an input of the check's name.
type shown struct {
	Prompt string   `json:"prompt,omitempty"`
	Expect []string `json:"expect"`
}

// Steps returns one step per candidate.
func Steps(c *spec.Campaign) []step.Step {
	if c.Imported() {
		return nil // nobody is asked anything
	}
	var steps []step.Step
	for _, name := range slices.Sorted(maps.Keys(c.Candidates)) {
		p := paramsOf(&c.Preflight, c.Candidates[name].Sampling)
		raw, err := json.Marshal(p)
		if err != nil {
			panic("preflight: parameters are plain data: " + err.Error())
		}
		inputs := files(&c.Preflight)
		inputs[pin.Input] = step.Input{Step: evidence.PinStep(name), Output: evidence.OutPin}
		steps = append(steps, step.Step{
			Name: evidence.PreflightStep(name), Kind: Kind, Revision: revision, Params: raw,
			Inputs: inputs,
			After:  []string{evidence.PinStep(name)}, Where: name,
			Cost: p.cost(c.Candidates[name]), Resources: p.alone(name),
		})
	}
	return steps
}

// alone holds the endpoint where a check compares an answer that was given alone
// with those given under its own load.
func (p *params) alone(candidate string) []string {
	if slices.Contains(p.Checks, "seed") {
		return []string{candidate}
	}
	return nil
}

func paramsOf(pre *spec.Preflight, s spec.Sampling) params {
	made := func(check string) bool { return slices.Contains(pre.Checks, check) }
	p := params{Checks: pre.Checks, Compat: pre.Compat, Evidence: pre.Evidence, Sampling: s}
	p.Needle = when(made("needle"), pre.Needle)
	p.Tools = when(made("tools"), pre.Tools)
	p.LongTools = when(made("long-tools"), pre.LongTools)
	p.JSON = when(made("json"), pre.JSON)
	p.Generate = when(made("generate"), pre.Prompt)
	p.Reasoning = when(made("reasoning"), pre.Reasoning)
	p.Seed = when(made("seed"), pre.Seed)
	for check, pic := range map[string]*spec.PictureCheck{"image": pre.Image, "ocr": pre.OCR} {
		if made(check) && pic != nil && pic.File != nil {
			p.show(check, shown{pic.Prompt, pic.Expect})
		}
	}
	if made("video") && pre.Video != nil {
		p.show("video", shown{pre.Video.Prompt, pre.Video.Expect})
	}
	return p
}

func (p *params) show(check string, s shown) {
	if p.Shown == nil {
		p.Shown = map[string]shown{}
	}
	p.Shown[check] = s
}

func when[T any](made bool, section *T) *T {
	if !made {
		return nil
	}
	return section
}

// files are the inputs that checks show, by the check's name.
func files(pre *spec.Preflight) map[string]step.Input {
	in := map[string]step.Input{}
	add := func(check string, f *spec.File) {
		if f != nil && slices.Contains(pre.Checks, check) {
			in[check] = step.Input{Blob: f.Digest, Path: f.Path}
		}
	}
	if pre.Image != nil {
		add("image", pre.Image.File)
	}
	if pre.OCR != nil {
		add("ocr", pre.OCR.File)
	}
	if pre.Video != nil {
		add("video", &pre.Video.File)
	}
	return in
}
