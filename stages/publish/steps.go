// Package publish assembles the evidence record of a campaign and writes the
// dated finding: record, decision, narrative, report, raw evidence, checksums.
//
// Two steps belong to it. "record" gathers everything that a decision rests on
// and runs before decide; its digest is what an approval will be bound to.
// "finding" renders record and decision for people.
package publish

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
)

// Kinds of the steps.
const (
	RecordKind  = "record"
	FindingKind = "finding"
)

// Input names of the finding step.
const (
	inRecord   = "record"
	inDecision = "decision"
)

// recordParams are the campaign's facts that the record repeats.
type recordParams struct {
	Campaign   string            `json:"campaign"`
	SpecHash   step.Digest       `json:"spec_hash"`
	Question   string            `json:"question"`
	Reward     string            `json:"reward,omitempty"`
	Kind       string            `json:"kind"`
	Owner      string            `json:"owner,omitempty"`
	Baseline   string            `json:"baseline"`
	Candidates map[string]string `json:"candidates"`      // name -> role
	GPUs       map[string]int    `json:"gpus,omitempty"`  // name -> GPUs, of those that declare them
	Price      *metric.Price     `json:"price,omitempty"` // of a GPU
	Sources    []source          `json:"sources"`         // which input is what, sorted by input
}

// source says what an input of the record step is.
type source struct {
	Input     string `json:"input"`
	What      string `json:"what"` // pin | hardware | start | preflight | summary | metrics | comparison | noise | calibration | research | raw
	Candidate string `json:"candidate,omitempty"`
	Workload  string `json:"workload,omitempty"`
	Judge     string `json:"judge,omitempty"`
	Step      string `json:"step"`
	Output    string `json:"output"`
	HeldOut   bool   `json:"held_out,omitempty"` // answers to held-out items

	file *spec.File // that the campaign names, nil = an output of Step; what it is like is in the key by its digest
}

// from is where the record step finds the source.
func (s source) from() step.Input {
	if s.file != nil {
		return step.Input{Blob: s.file.Digest, Path: s.file.Path}
	}
	return step.Input{Step: s.Step, Output: s.Output, Optional: true}
}

// Steps returns the adder of the publish stage for a campaign with that hash.
func Steps(specHash step.Digest) func(*spec.Campaign) []step.Step {
	return func(c *spec.Campaign) []step.Step {
		return []step.Step{recordStep(c, specHash), findingStep()}
	}
}

func recordStep(c *spec.Campaign, specHash step.Digest) step.Step {
	p := recordParams{
		Campaign: c.Campaign, SpecHash: specHash, Question: c.Decision.Question, Reward: c.Decision.Reward,
		Kind: c.Decision.Kind, Owner: c.Owner, Baseline: c.Baseline(), Candidates: map[string]string{},
	}
	for name, cand := range c.Candidates {
		p.Candidates[name] = cand.Role
		if g := cand.Parallelism; g != nil {
			if p.GPUs == nil {
				p.GPUs = map[string]int{}
			}
			p.GPUs[name] = max(g.Tensor, 1) * max(g.Pipeline, 1) * max(g.Data, 1)
		}
	}
	if cost := c.Publish.Cost; cost != nil {
		p.Price = &metric.Price{GPUHour: cost.GPUHour, Currency: cost.Currency}
	}
	p.Sources = sources(c)
	inputs := map[string]step.Input{}
	for _, s := range p.Sources {
		inputs[s.Input] = s.from()
	}
	params, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("publish: record params: %v", err)) // plain strings: cannot fail
	}
	return step.Step{Name: evidence.RecordStep, Kind: RecordKind, Revision: 5, Params: params, Inputs: inputs, Pure: true}
}

func findingStep() step.Step {
	return step.Step{
		Name: evidence.FindingStep, Kind: FindingKind, Revision: 5, Pure: true,
		Inputs: map[string]step.Input{
			inRecord:   {Step: evidence.RecordStep, Output: evidence.OutRecord},
			inDecision: {Step: evidence.DecideStep, Output: evidence.OutDecision},
		},
	}
}

// sources lists every output that the record is made of, sorted by input name.
func sources(c *spec.Campaign) []source {
	var out []source
	add := func(what, cand, wl, stepName, output string) {
		out = append(out, source{
			Input: fmt.Sprintf("%s:%s", stepName, output), What: what,
			Candidate: cand, Workload: wl, Step: stepName, Output: output,
		})
	}
	generation := func(cand, wl string, trial int) {
		addGeneration(add, cand, wl, trial)
		if q := c.Measure[wl].Quality; q != nil && q.Split == spec.SplitHeldOut {
			for i := range out {
				out[i].HeldOut = out[i].HeldOut || out[i].Step == evidence.GenerateStep(cand, wl, trial) && out[i].Output == evidence.OutResponses
			}
		}
	}
	base := c.Baseline()
	for _, cand := range slices.Sorted(maps.Keys(c.Candidates)) {
		if !c.Imported() {
			add("pin", cand, "", evidence.PinStep(cand), evidence.OutPin)
			add("hardware", cand, "", evidence.PinStep(cand), evidence.OutHardware)
			if c.Candidates[cand].Serve != nil {
				add("start", cand, "", evidence.PinStep(cand), evidence.OutStart)
			}
			add("preflight", cand, "", evidence.PreflightStep(cand), evidence.OutPreflight)
		}
		for _, wl := range slices.Sorted(maps.Keys(c.Measure)) {
			switch w := c.Measure[wl]; w.Kind {
			case "quality":
				generation(cand, wl, 1)
				if cand != base {
					add("comparison", cand, wl, evidence.CompareStep(cand, wl), evidence.OutComparison)
				}
			case "noise-floor":
				if w.NoiseFloor.Candidate == cand {
					generation(cand, w.NoiseFloor.Suite, 2)
					add("noise", cand, wl, evidence.NoiseStep(wl), evidence.OutNoise)
				}
			default:
				if !w.Serving() {
					continue
				}
				if w.Imported != nil {
					add("raw", cand, wl, evidence.MetricsStep(cand, wl), evidence.OutImported)
					add("metrics", cand, wl, evidence.MetricsStep(cand, wl), evidence.OutMetrics)
					continue
				}
				for _, point := range w.Points(c.Measure) {
					for t := 1; t <= w.Repeats(c.Measure); t++ {
						cell := evidence.CellStep(cand, wl, point.Cell, t)
						add("raw", cand, wl, cell, evidence.OutCell)
						add("raw", cand, wl, cell, evidence.OutScrapes)
						if w.Kind == energyKind {
							add("raw", cand, wl, cell, evidence.OutTrace)
						}
					}
				}
				add("metrics", cand, wl, evidence.MetricsStep(cand, wl), evidence.OutMetrics)
				out = append(out, meterFiles(w, cand, wl)...)
			}
		}
	}
	out = append(out, judgeSources(c)...)
	if c.Research != nil {
		add("research", "", "", evidence.ResearchStep, evidence.OutResearch)
	}
	slices.SortFunc(out, func(a, b source) int { return strings.Compare(a.Input, b.Input) })
	return slices.CompactFunc(out, func(a, b source) bool { return a.Input == b.Input })
}

func addGeneration(add func(what, cand, wl, stepName, output string), cand, wl string, trial int) {
	gen := evidence.GenerateStep(cand, wl, trial)
	add("raw", cand, wl, gen, evidence.OutResponses)
	add("raw", cand, wl, gen, evidence.OutTimings)
	add("raw", cand, wl, gen, evidence.OutKept)
	score := evidence.ScoreStep(cand, wl, trial)
	add("raw", cand, wl, score, evidence.OutScores)
	if trial == 1 {
		add("summary", cand, wl, score, evidence.OutSummary)
	}
}
