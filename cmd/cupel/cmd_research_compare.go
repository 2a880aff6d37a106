package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/prior/match"
	"github.com/cupel-dev/cupel/stages/publish"
	"github.com/cupel-dev/cupel/stages/research/library"
)

type nearestOptions struct {
	dir, hardware, candidate, today string
	top                             int
}

func (a *app) researchCompareCmd() *cobra.Command {
	var o nearestOptions
	c := &cobra.Command{
		Use:   "compare FINDING",
		Short: "hold a finding's load cells against the nearest published ones",
		Long: `For each load cell of a finding (its folder, or its record.json) show the nearest
entries of the sources that are kept, and by how much they differ: (local -
external) / external, in percent. Nearness is a score: gpu +10, model +7 or its
family +4, engine +3, quantisation +3 or its precision +2, context bucket +2,
concurrency bucket +2. What one side does not say gives no points.

This is for orientation. It decides nothing, and exits 0 whatever it finds.

` + exitCodeTable(),
		Example: `  cupel research compare findings/2026-11-30-serving --hardware H100
  cupel research compare findings/2026-11-30-serving/record.json --in research --top 1 --json`,
		Args: exactArgs("FINDING"),
		RunE: func(_ *cobra.Command, args []string) error { return a.nearest(args[0], o) },
	}
	f := c.Flags()
	f.StringVar(&o.dir, "in", researchDir, "`folder` in which sources are kept")
	f.StringVar(&o.hardware, "hardware", "", "`GPU` on which the finding was measured, which its record does not know")
	f.StringVar(&o.candidate, "candidate", "", "cells of this candidate only")
	f.StringVar(&o.today, "today", "", "`day` to which ages are counted (default: today)")
	f.IntVar(&o.top, "top", 3, "entries to show for each cell")
	return c
}

// compared is one cell with its nearest entries.
type compared struct {
	Candidate string        `json:"candidate"`
	Workload  string        `json:"workload"`
	Cell      string        `json:"cell"`
	Setting   match.Setting `json:"setting"`
	Matches   []match.Match `json:"matches"`
}

func (a *app) nearest(finding string, o nearestOptions) error {
	if o.top < 1 {
		return fail(exitUsage, fmt.Errorf("--top %d: give at least 1", o.top))
	}
	if o.today == "" {
		o.today = todayText()
	} else if err := dayFlag("--today", o.today); err != nil {
		return err
	}
	rec, err := findingRecord(finding)
	if err != nil {
		return fail(exitUsage, legible{err})
	}
	if _, ok := rec.Candidates[o.candidate]; o.candidate != "" && !ok {
		return fail(exitUsage, fmt.Errorf("--candidate %s: there is none in %s; there are %s", o.candidate, finding, listed(slices.Sorted(maps.Keys(rec.Candidates)))))
	}
	entries, ages, err := kept(o)
	if err != nil {
		return libraryError(o.dir, err)
	}
	cells := o.cells(rec, entries)
	if len(cells) == 0 {
		return fail(exitUsage, step.WithHint(fmt.Errorf("%s holds no load cell", finding), "a campaign with a capacity, open-loop, decode or ladder workload has some"))
	}
	if a.json {
		return a.printJSON(cells)
	}
	for _, c := range cells {
		a.printNearest(c, ages)
	}
	return nil
}

// findingRecord reads the record of a finding.
func findingRecord(name string) (*evidence.Record, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, evidence.OutRecord)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, step.WithHint(err, "name the folder of a finding, or its record.json")
	}
	rec := new(evidence.Record)
	if err := json.Unmarshal(b, rec); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if rec.Schema != publish.RecordSchema {
		return nil, fmt.Errorf("%s: found the schema %q, allowed %s", name, rec.Schema, publish.RecordSchema)
	}
	return rec, nil
}

// kept reads the newest version of every source; ages are by source.
func kept(o nearestOptions) ([]match.Entry, map[string]string, error) {
	sources, err := library.List(o.dir)
	if err != nil {
		return nil, nil, err
	}
	if len(sources) == 0 {
		return nil, nil, step.WithHint(errors.New(o.dir+" holds no source"), "keep one with cupel research import")
	}
	var out []match.Entry
	ages := map[string]string{}
	for _, s := range sources {
		rows, err := library.Rows(o.dir, s, s.Latest())
		if err != nil {
			return nil, nil, err
		}
		out = append(out, match.Entries(s.ID, rows)...)
		ages[s.ID] = ageAt(s.Latest(), o.today)
	}
	return out, ages, nil
}

func (o nearestOptions) cells(rec *evidence.Record, entries []match.Entry) (out []compared) {
	for _, name := range slices.Sorted(maps.Keys(rec.Candidates)) {
		if o.candidate != "" && name != o.candidate {
			continue
		}
		cand := rec.Candidates[name]
		for _, wl := range slices.Sorted(maps.Keys(cand.Load)) {
			for i := range cand.Load[wl].Cells {
				c := &cand.Load[wl].Cells[i]
				s := o.setting(cand.Pin, c)
				found := match.Nearest(s, c, entries, o.top)
				if found == nil {
					found = []match.Match{}
				}
				out = append(out, compared{name, wl, c.Name, s, found})
			}
		}
	}
	return out
}

// setting is what the pins and the cell say. The context is that of the prompts
// which were sent; where the engine does not count them, the one that is served.
func (o nearestOptions) setting(pin *evidence.PinDoc, c *metric.Cell) match.Setting {
	s := match.Setting{Hardware: o.hardware, Context: c.PromptTokens.P50}
	if c.Concurrency > 0 {
		s.Concurrency = &c.Concurrency
	}
	if pin == nil {
		return s
	}
	s.Model = firstPin(pin, "model.repo", "served")
	s.Engine, s.Quantisation = firstPin(pin, "engine.name"), firstPin(pin, "quantization.weights")
	if x, err := strconv.ParseFloat(firstPin(pin, "context.served"), 64); err == nil && s.Context == nil {
		s.Context = &x
	}
	if s.Speculative = firstPin(pin, "speculative"); s.Speculative == "none" {
		s.Speculative = "off"
	}
	if s.Caching = firstPin(pin, "cache.prefix"); s.Caching == "unknown" {
		s.Caching = ""
	}
	return s
}

// firstPin is the first of these pins that is known, as observed before as declared.
func firstPin(p *evidence.PinDoc, names ...string) string {
	for _, name := range names {
		for _, f := range p.Fields {
			if f.Name == name && f.Observed+f.Declared != "" {
				if f.Observed != "" {
					return f.Observed
				}
				return f.Declared
			}
		}
	}
	return ""
}

func (a *app) printNearest(c compared, ages map[string]string) {
	a.printf("%s\n", printable(fmt.Sprintf("%s  %s %s  %s", c.Candidate, c.Workload, c.Cell, settingText(c.Setting))))
	if len(c.Matches) == 0 {
		a.printf("  no entry has anything in common with it\n\n")
		return
	}
	for _, m := range c.Matches {
		a.printf("  score %d (%s): %s, %s, %s: %s\n", m.Score, m.Explain(), printable(m.Entry.ID), printable(m.Entry.Source), ages[m.Entry.Source], printable(settingText(m.Entry.Setting)))
		a.printDeltas(m.Deltas)
		for _, w := range m.Warnings {
			a.printf("    warning: %s\n", printable(w))
		}
	}
	a.printf("\n")
}

func (a *app) printDeltas(deltas []match.Delta) {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	for _, d := range deltas {
		note := strings.Trim(d.Reason+"; "+d.Note, "; ")
		fmt.Fprintf(w, "    %s\tlocal %s\texternal %s\t%s\t%s\n", printable(d.Metric), printable(withUnit(d.Local, d.Unit)), printable(withUnit(&d.External, d.Unit)),
			percentOf(d.DeltaPct), printable(note))
	}
	w.Flush()
	if len(deltas) == 0 {
		a.printf("    no metric in common\n")
	}
}

func settingText(s match.Setting) string {
	parts := []string{s.Model, s.Hardware, s.Engine, s.Quantisation}
	if s.Context != nil {
		parts = append(parts, "context "+match.ContextBucket(*s.Context))
	}
	if s.Concurrency != nil {
		parts = append(parts, "concurrency "+match.ConcurrencyBucket(*s.Concurrency))
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}
