package spec

import (
	"fmt"
	"regexp"
	"slices"
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
		if n := w.get("of"); r.reference(n, p.with("of"), "workload", measure) {
			if k := kindName(measure.get(n.text)); k == "energy" || k == "noise-floor" {
				r.errs.add(n.at, p.with("of"), fmt.Sprintf("workload %s is of kind %s, whose energy is not measured", show(n.text), k), "")
			}
		}
	case "capacity":
		r.capacity(p, w)
	case "ladder":
		r.unique(w.get("tokens"), p.with("tokens"))
	}
}

func intOf(n *node) (int, bool) {
	if n == nil || n.kind != cue.NumberKind {
		return 0, false
	}
	i, err := strconv.Atoi(n.text)
	return i, err == nil
}

// maxCells bounds the cells of a capacity workload, maxPlanned the requests of
// the workload per candidate.
const (
	maxCells   = 32
	maxPlanned = 1_000_000
)

func (r *rules) capacity(p path, w *node) {
	cells := w.get("concurrency").items()
	r.unique(w.get("concurrency"), p.with("concurrency"))
	if len(cells) > maxCells {
		r.errs.add(w.get("concurrency").at, p.with("concurrency"), fmt.Sprintf("%d cells, allowed %d", len(cells), maxCells), "")
	}
	requests, ok := intOf(w.get("requests"))
	if !ok {
		return
	}
	for i, n := range cells {
		if c, ok := intOf(n); ok && c > requests {
			r.warnings.add(n.at, p.with("concurrency").with(index(i)), fmt.Sprintf("%d requests cannot keep %d clients busy", requests, c), "raise requests to several times the concurrency")
		}
	}
	trials, ok := intOf(w.get("trials"))
	if !ok {
		trials = 1
	}
	if planned := requests * trials * len(cells); len(cells) <= maxCells && planned > maxPlanned {
		r.errs.add(w.get("requests").at, p.with("requests"), fmt.Sprintf("%d requests per candidate in all cells and trials, allowed %d", planned, maxPlanned), "")
	}
	r.template(p.with("prompt"), w.get("prompt"))
}

// unique refuses a cell that is there twice.
func (r *rules) unique(list *node, p path) {
	seen := map[string]bool{}
	for i, n := range list.items() {
		if _, ok := intOf(n); ok && seen[n.text] {
			r.errs.add(n.at, p.with(index(i)), fmt.Sprintf("a second %s", clip(n.text)), "each value is measured once; trials repeat")
		}
		seen[n.text] = true
	}
}

var placeholder = regexp.MustCompile(`\{([A-Za-z_-]+)\}`)

var placeholders = []string{"canary", "index", "words", "word-list", "filler"}

func (r *rules) template(p path, prompt *node) {
	t := prompt.get("template")
	text, ok := t.str()
	if !ok {
		return
	}
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(placeholders, m[1]) {
			r.errs.add(t.at, p.with("template"), fmt.Sprintf("unknown placeholder {%s}", clip(m[1])), didYouMean(m[1], placeholders))
		}
	}
	if c := prompt.get("canary"); c != nil && c.text == "true" && !strings.Contains(text, "{canary}") {
		r.errs.add(t.at, p.with("template"), "has no {canary}, but canary is true", "")
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

func (r *rules) guardCells(p path, n *node, kind string, w *node) {
	p = p.with("concurrency")
	if kind != "capacity" {
		r.errs.add(n.at, p, "only a guard on a capacity workload has concurrency", r.workloadsHint("capacity"))
		return
	}
	have := map[string]bool{}
	var cells []string
	for _, c := range w.get("concurrency").items() {
		have[c.text] = true
		cells = append(cells, c.text)
	}
	for i, c := range n.items() {
		if _, ok := intOf(c); ok && !have[c.text] {
			r.errs.add(c.at, p.with(index(i)), fmt.Sprintf("the workload has no cell with concurrency %s", clip(c.text)), "allowed: "+join(cells, 24))
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
