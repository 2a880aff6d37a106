package spec

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
)

func kindName(n *node) string {
	s, _ := n.get("kind").str()
	return s
}

func (r *rules) workload(name string, w *node) {
	p := path{"measure", name}
	measure := r.root.get("measure")
	r.duration(w.get("timeout"), p.with("timeout"))
	switch kindName(w) {
	case "noise-floor":
		r.reference(w.get("candidate"), p.with("candidate"), "candidate", r.declared)
		if n := w.get("suite"); r.reference(n, p.with("suite"), "workload", measure) {
			if k := kindName(measure.get(n.text)); k != "quality" {
				r.errs.add(n.at, p.with("suite"), fmt.Sprintf("workload %s is of kind %s, allowed a quality workload", show(n.text), show(k)), "")
			}
		}
	case "energy":
		r.energy(p, w)
	default:
		r.serving(p, w)
	}
}

func intOf(n *node) (int, bool) {
	if n == nil || n.kind != cue.NumberKind {
		return 0, false
	}
	i, err := strconv.Atoi(n.text)
	return i, err == nil
}

// unique refuses a cell that is there twice.
func (r *rules) unique(list *node, p path) {
	seen := map[string]bool{}
	for i, n := range list.items() {
		if n.kind == cue.NumberKind && seen[n.text] {
			r.errs.add(n.at, p.with(index(i)), fmt.Sprintf("a second %s", clip(n.text)), "each value is measured once; trials repeat")
		}
		seen[n.text] = true
	}
}

func (r *rules) guard(name string, g *node) {
	p := path{"decide", "guards", name}
	measure := r.root.get("measure")
	kind := ""
	on := g.get("on")
	if r.reference(on, p.with("on"), "workload", measure) {
		kind = kindName(measure.get(on.text))
	}
	if n := g.get("strata"); n != nil && kind != "quality" && (on == nil || kind != "") {
		r.errs.add(n.at, p.with("strata"), "only a guard on a quality workload has strata", r.workloadsHint("quality"))
	}
	if n := g.get("concurrency"); n != nil {
		r.guardCells(p, n, kind, measure.get(textOf(on)))
	}
	for i, n := range g.get("candidates").items() {
		q := p.with("candidates").with(index(i))
		if r.reference(n, q, "candidate", r.declared) {
			if role, _ := r.declared.get(n.text).get("role").str(); role == "baseline" {
				r.errs.add(n.at, q, fmt.Sprintf("%s is the baseline, which is not compared with itself", show(n.text)), "")
			}
		}
	}
	if rule, ok := g.get("rule").str(); ok && kind == "quality" && namesVariable(rule, "noise") {
		r.noise(g.get("rule"), p.with("rule"), on.text)
	}
}

func textOf(n *node) string {
	s, _ := n.str()
	return s
}

// guardCells checks cells that a guard chooses by concurrency. Those that it
// chooses by name are checked where their names are made.
func (r *rules) guardCells(p path, n *node, kind string, w *node) {
	p = p.with("concurrency")
	if kind == "energy" {
		w = r.root.get("measure").get(textOf(w.get("of")))
		kind = kindName(w)
	}
	cells, closed := closedLoops[kind]
	if !closed {
		r.errs.add(n.at, p, "only a guard on a closed-loop workload has concurrency", "choose the cells of other workloads by name: cells; "+r.workloadsHint("capacity"))
		return
	}
	if kind == "replicas" {
		w = r.root.get("measure").get(textOf(w.get("of")))
	}
	have := map[string]bool{}
	var listed []string
	for _, c := range w.get(cells).items() {
		have[c.text] = true
		listed = append(listed, c.text)
	}
	if kind == "decode" && w.get(cells) == nil {
		have["1"], listed = true, []string{"1"}
	}
	for i, c := range n.items() {
		if _, ok := intOf(c); ok && !have[c.text] {
			r.errs.add(c.at, p.with(index(i)), fmt.Sprintf("the workload has no cell with concurrency %s", clip(c.text)), "allowed: "+join(listed, 24))
		}
	}
	r.unique(n, p)
}

func (r *rules) workloadsHint(kind string) string {
	var of []string
	for _, f := range r.root.get("measure").pairs() {
		if kindName(f.val) == kind {
			of = append(of, f.name)
		}
	}
	if len(of) == 0 {
		return "the campaign has no " + kind + " workload"
	}
	return "set on to " + join(of, 8)
}

// noise wants exactly one noise floor for a rule that names noise.
func (r *rules) noise(rule *node, p path, on string) {
	var floors []string
	measure := r.root.get("measure")
	for _, f := range measure.pairs() {
		suite := textOf(f.val.get("suite"))
		if kindName(f.val) == "noise-floor" && measure.field(suite) == nil {
			return // names no workload: reported, and perhaps this one was meant
		}
		if kindName(f.val) == "noise-floor" && suite == on {
			floors = append(floors, f.name)
		}
	}
	switch {
	case len(floors) == 0:
		r.errs.add(rule.at, p, fmt.Sprintf("names noise, but no noise-floor workload repeats %s", show(on)), "add one to measure: {kind: noise-floor, candidate: …, suite: "+show(on)+"}")
	case len(floors) > 1:
		r.errs.add(rule.at, p, fmt.Sprintf("noise is ambiguous: %s repeat %s", strings.Join(floors, " and "), show(on)), "keep one")
	}
}

var celText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)

// namesVariable reports whether a CEL rule reads a field of a variable; texts
// inside the rule do not count.
func namesVariable(rule, variable string) bool {
	rest := celText.ReplaceAllString(rule, `""`)
	for i := 0; ; {
		k := strings.Index(rest[i:], variable)
		if k < 0 {
			return false
		}
		start := i + k
		i = start + len(variable)
		before := start == 0 || !strings.ContainsRune(wordRunes+".", rune(rest[start-1]))
		if after := strings.TrimLeft(rest[i:], " \t\n"); before && (strings.HasPrefix(after, ".") || strings.HasPrefix(after, "[")) {
			return true
		}
	}
}

const wordRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
