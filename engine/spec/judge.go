package spec

import (
	"fmt"
	"slices"
	"strconv"
)

// Judge is a model that scores answers which no program can check.
type Judge struct {
	Pins         JudgePins `json:"pins"`
	Rubric       string    `json:"rubric"`             // what a good answer is; an item's own goes over it
	Template     string    `json:"template,omitempty"` // of the request; "" = the judge stage's own
	Points       int       `json:"points,omitempty"`   // 0 = pass or fail, else marks from 1 to Points
	Reply        string    `json:"reply"`              // json | word
	Constrain    bool      `json:"constrain,omitempty"`
	Labels       *File     `json:"labels,omitempty"` // answers that people have judged
	MinKappa     float64   `json:"minKappa"`
	Uncalibrated string    `json:"uncalibrated,omitempty"` // "" or allow
	Concurrency  int       `json:"concurrency"`
	Retries      int       `json:"retries"`
	Timeout      string    `json:"timeout"`
}

// JudgePins are those of a candidate that matter for a judge.
type JudgePins struct {
	Model        Model         `json:"model"`
	Tokenizer    *Tokenizer    `json:"tokenizer,omitempty"`
	ChatTemplate *SHA256       `json:"chatTemplate,omitempty"`
	Engine       Engine        `json:"engine,omitzero"`
	Quantization *Quantization `json:"quantization,omitempty"`
	Context      *Context      `json:"context,omitempty"`
	Sampling     Sampling      `json:"sampling"`
	Reasoning    *Reasoning    `json:"reasoning,omitempty"`
	SystemPrompt string        `json:"systemPrompt,omitempty"`
	ServedName   string        `json:"servedName,omitempty"`
}

// Candidate returns the pins in the form in which every endpoint is pinned.
func (p JudgePins) Candidate() Candidate {
	return Candidate{
		Model: p.Model, Tokenizer: p.Tokenizer, ChatTemplate: p.ChatTemplate, Engine: p.Engine,
		Quantization: p.Quantization, Context: p.Context, Sampling: p.Sampling, Reasoning: p.Reasoning,
		SystemPrompt: p.SystemPrompt, ServedName: p.ServedName,
	}
}

// Endpoints lists what can be bound: candidates and judges, sorted.
func (c *Campaign) Endpoints() []string {
	names := append(sortedKeys(c.Candidates), sortedKeys(c.Judges)...)
	slices.Sort(names)
	return names
}

// Pinned returns the pins of a candidate or a judge.
func (c *Campaign) Pinned(name string) (Candidate, bool) {
	if j, ok := c.Judges[name]; ok {
		return j.Pins.Candidate(), true
	}
	cand, ok := c.Candidates[name]
	return cand, ok
}

// judges checks what a judge may not be: a candidate, or a moving target.
func (r *rules) judges() {
	for _, f := range r.root.get("judges").pairs() {
		p := path{"judges", f.name}
		if r.declared.field(f.name) != nil {
			r.errs.add(f.at, p, "has the name of a candidate", "a candidate cannot be its own judge; choose another name")
		}
		model := f.val.get("pins").get("model")
		for _, cand := range r.root.get("candidates").pairs() {
			if sameModel(model, cand.val.get("model")) {
				r.errs.add(model.at, p.with("pins").with("model"), fmt.Sprintf("is the model of candidate %s", clip(cand.name)), "a candidate cannot be its own judge")
			}
		}
		if model != nil && model.get("revision") == nil && model.get("sha256") == nil {
			r.warnings.add(model.at, p.with("pins").with("model"), "names no revision or sha256: whoever serves the judge may change it unseen", "pin it, or calibrate again before each decision (--refresh 'measure/"+clip(f.name)+"/*')")
		}
		if t := f.val.get("pins").get("sampling").get("temperature"); t != nil && !zero(t) {
			r.errs.add(t.at, p.with("pins").with("sampling").with("temperature"), "is not 0", "a judge that draws its verdicts gives another one tomorrow")
		}
		if f.val.get("labels") == nil {
			if u, _ := f.val.get("uncalibrated").str(); u != "allow" {
				r.warnings.add(f.at, p, "has no labels, so it is not calibrated and what it judges decides nothing", "name a file of answers that people have judged as labels (cupel judge sample), or write uncalibrated: allow")
			}
		}
		if s, _ := f.val.get("reply").str(); s == "word" && f.val.get("constrain") != nil {
			r.errs.add(f.val.get("constrain").at, p.with("constrain"), "needs reply: json", "")
		}
		r.duration(f.val.get("timeout"), p.with("timeout"))
	}
}

func zero(n *node) bool {
	v, err := strconv.ParseFloat(n.text, 64)
	return err == nil && v == 0
}

// sameModel reports whether two declared models are one.
func sameModel(a, b *node) bool {
	same := func(field string) bool {
		x, okX := a.get(field).str()
		y, okY := b.get(field).str()
		return okX && okY && x == y
	}
	return same("sha256") || same("revision") && (same("repo") || a.get("repo") == nil || b.get("repo") == nil) ||
		same("repo") && a.get("revision") == nil && a.get("sha256") == nil && b.get("revision") == nil && b.get("sha256") == nil
}
