package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cuelang.org/go/cue"
)

// maxCells bounds the cells of a serving workload, maxPlanned the requests of
// the workload per candidate.
const (
	maxCells   = 32
	maxPlanned = 1_000_000
)

// closedLoops maps the kinds whose cells have a concurrency to the field that
// lists it.
var closedLoops = map[string]string{"capacity": "concurrency", "decode": "concurrency", "prefix-burst": "clients", "replicas": "concurrency"}

// serving checks what a workload of timed requests asks for together.
func (r *rules) serving(p path, w *node) {
	r.duration(w.get("coolDown"), p.with("coolDown"))
	if n := w.get("prompt"); n != nil {
		r.prompt(p.with("prompt"), n)
	}
	if out := w.get("output"); textOf(out.get("policy")) == "strict" && out.get("words") == nil {
		r.errs.add(out.get("policy").at, p.with("output").with("policy"), "strict, and no output is asked for that could be held to it", "give output.words, or drop policy")
	}
	if slo := w.get("slo"); slo != nil && len(slo.fields) == 0 {
		r.errs.add(slo.at, p.with("slo"), "states nothing", "give ttft_ms, ttfo_ms, tpot_ms or e2e_ms")
	}
	switch kindName(w) {
	case "capacity", "decode":
		r.cells(p, w, "concurrency")
		r.busy(p, w)
		if kindName(w) == "decode" {
			r.indexOnly(p.with("prompt"), w.get("prompt"))
		}
	case "open-loop":
		r.openLoop(p, w)
	case "search":
		r.search(p, w)
	case "ladder":
		r.cells(p, w, "tokens")
	case "effective-context":
		r.unique(w.get("buckets"), p.with("buckets"))
		r.unique(w.get("positions"), p.with("positions"))
		r.uniqueTexts(w.get("cases"), p.with("cases"))
	case "prefix-burst":
		r.unique(w.get("clients"), p.with("clients"))
		shared, ok := intOf(w.get("sharedTokens"))
		if all, ok2 := intOf(w.get("tokens")); ok && ok2 && all <= shared {
			r.errs.add(w.get("tokens").at, p.with("tokens"), fmt.Sprintf("%d tokens leave no room behind a shared prefix of %d", all, shared), "tokens is the length of the whole prompt")
		}
	case "replicas":
		if n := w.get("of"); r.reference(n, p.with("of"), "workload", r.root.get("measure")) {
			if k := kindName(r.root.get("measure").get(n.text)); k != "capacity" {
				r.errs.add(n.at, p.with("of"), fmt.Sprintf("workload %s is of kind %s, allowed a capacity workload", show(n.text), show(k)), "")
			}
		}
	case "imported":
		r.imported(p, w)
	case "bench":
		r.uniqueTexts(w.get("prompts"), p.with("prompts"))
	}
}

// indexOnly refuses placeholders that a decode prompt does not have.
func (r *rules) indexOnly(p path, n *node) {
	for _, m := range placeholder.FindAllStringSubmatch(textOf(n), -1) {
		if m[1] != "index" {
			r.errs.add(n.at, p, fmt.Sprintf("unknown placeholder {%s}", clip(m[1])), "a decode prompt has {index} only")
		}
	}
}

// cells bounds the cells of list and the requests of all of them.
func (r *rules) cells(p path, w *node, list string) {
	n := w.get(list)
	r.unique(n, p.with(list))
	cells := max(len(n.items()), 1)
	if cells > maxCells {
		r.errs.add(n.at, p.with(list), fmt.Sprintf("%d cells, allowed %d", cells, maxCells), "")
		return
	}
	requests, ok := intOf(w.get("requests"))
	if !ok {
		return
	}
	trials, ok := intOf(w.get("trials"))
	if !ok {
		trials = 1
	}
	r.planned(w.get("requests"), p.with("requests"), float64(requests)*float64(trials)*float64(cells))
}

func (r *rules) planned(n *node, p path, requests float64) {
	if requests > maxPlanned {
		r.errs.add(n.at, p, fmt.Sprintf("%.0f requests per candidate in all cells and trials, allowed %d", requests, maxPlanned), "")
	}
}

// busy warns of cells with fewer requests than clients.
func (r *rules) busy(p path, w *node) {
	requests, ok := intOf(w.get("requests"))
	if !ok {
		return
	}
	for i, n := range w.get("concurrency").items() {
		if c, ok := intOf(n); ok && c > requests {
			r.warnings.add(n.at, p.with("concurrency").with(index(i)), fmt.Sprintf("%d requests cannot keep %d clients busy", requests, c), "raise requests to several times the concurrency")
		}
	}
}

// arrivalFields says which fields a process takes; + = it needs it.
var arrivalFields = map[string]string{
	"constant": "+rates +duration drain",
	"poisson":  "+rates +duration drain",
	"gamma":    "+rates +duration +burstiness drain",
	"ramp":     "+rates +duration +to drain",
	"trace":    "+trace duration speed drain",
}

func (r *rules) openLoop(p path, w *node) {
	a := w.get("arrivals")
	q := p.with("arrivals")
	process := textOf(a.get("process"))
	takes, ok := arrivalFields[process]
	if !ok {
		return // reported by the schema
	}
	for _, f := range a.pairs() {
		if f.name != "process" && !slices.Contains(strings.Fields(strings.ReplaceAll(takes, "+", "")), f.name) {
			r.errs.add(f.val.at, q.with(f.name), "not for process "+process, process+" takes "+strings.ReplaceAll(takes, "+", ""))
		}
	}
	for _, f := range strings.Fields(takes) {
		if name, needed := strings.CutPrefix(f, "+"); needed && a.get(name) == nil {
			r.errs.add(a.at, q, "process "+process+" needs "+name, "")
		}
	}
	r.duration(a.get("duration"), q.with("duration"))
	rates := a.get("rates")
	r.unique(rates, q.with("rates"))
	if n := len(rates.items()); n > maxCells {
		r.errs.add(rates.at, q.with("rates"), fmt.Sprintf("%d cells, allowed %d", n, maxCells), "")
		return
	}
	window, err := time.ParseDuration(textOf(a.get("duration")))
	if err != nil {
		return
	}
	sum := 0.0
	to, _ := floatOf(a.get("to"))
	for _, n := range rates.items() {
		f, _ := floatOf(n)
		sum += max(f, (f+to)/2) * window.Seconds()
	}
	trials, ok := intOf(w.get("trials"))
	if !ok {
		trials = 1
	}
	r.planned(a, q, sum*float64(trials))
}

func (r *rules) search(p path, w *node) {
	over := textOf(w.get("over"))
	low, ok := floatOf(w.get("low"))
	high, ok2 := floatOf(w.get("high"))
	if ok && ok2 && low >= high {
		r.errs.add(w.get("high").at, p.with("high"), "is not above low", "")
	}
	need, other := "duration", "requests"
	if over == "concurrency" {
		need, other = other, need
		for _, name := range []string{"low", "high"} {
			if f, ok := floatOf(w.get(name)); ok && (f != float64(int(f)) || f > 4096) {
				r.errs.add(w.get(name).at, p.with(name), "is no concurrency", "a whole number from 1 to 4096")
			}
		}
	}
	if over == "" {
		return
	}
	if w.get(need) == nil {
		r.errs.add(w.at, p, "a search over the "+over+" needs "+need, "it says how much is sent for each probe")
	}
	for _, name := range []string{other, "process"} {
		if n := w.get(name); n != nil && (name == other || over == "concurrency") {
			r.errs.add(n.at, p.with(name), "not for a search over the "+over, "")
		}
	}
	r.duration(w.get("duration"), p.with("duration"))
}

func (r *rules) uniqueTexts(list *node, p path) {
	seen := map[string]bool{}
	for i, n := range list.items() {
		if t := textOf(n); t != "" && seen[t] {
			r.errs.add(n.at, p.with(index(i)), "a second "+show(t), "")
		} else {
			seen[t] = true
		}
	}
}

func floatOf(n *node) (float64, bool) {
	if n == nil || n.kind&cue.NumberKind == 0 {
		return 0, false
	}
	f, err := strconv.ParseFloat(n.text, 64)
	return f, err == nil
}
