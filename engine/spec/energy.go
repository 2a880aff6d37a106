package spec

import (
	"fmt"
	"regexp"
	"slices"
	"time"
)

// unmetered says of each kind whose energy is not measured why not. Of the others
// every cell is one block of requests that can be looked at as a whole.
var unmetered = map[string]string{
	"quality":           "it may go on after an interruption, so that no stretch of time is all of it",
	"noise-floor":       "it repeats a quality workload",
	"search":            "which points it looks at is known afterwards only; name a workload at the point that it found",
	"ladder":            "its rungs are a few requests long",
	"effective-context": "its answers count, not how they are served",
	"prefix-burst":      "it is over when one burst is answered",
	"replicas":          "its endpoints may be on several machines",
	"energy":            "it is a measurement of energy itself",
	"imported":          "nothing is sent",
}

// Metered reports whether the energy of workloads of a kind can be measured.
func Metered(kind string) bool {
	return slices.Contains([]string{"capacity", "open-loop", "decode", "bench"}, kind)
}

// maxRecording bounds the file of one recording.
const maxRecording = 1 << 30

// defaultWindow is what #Energy fills in.
const defaultWindow = "60s"

// energy checks what an energy workload asks for together.
func (r *rules) energy(p path, w *node) {
	r.duration(w.get("window"), p.with("window"))
	for _, name := range []string{"settle", "idle", "cooling"} {
		r.pause(w.get(name), p.with(name))
	}
	r.uniqueTexts(w.get("bases"), p.with("bases"))
	r.energyOf(p, w)
	r.recordings(p.with("traces"), w.get("traces"))
	base, bases := w.get("wallCalibration").get("base"), []string{"nv.gpu"}
	if list := w.get("bases"); list != nil {
		bases = texts(list)
	}
	if name, ok := base.str(); ok && !slices.Contains(bases, name) {
		r.errs.add(base.at, p.with("wallCalibration").with("base"), fmt.Sprintf("%s is none of the workload's bases", show(name)), "allowed: "+join(bases, 24))
	}
}

func texts(list *node) (out []string) {
	for _, n := range list.items() {
		out = append(out, textOf(n))
	}
	return out
}

// energyOf checks the workload whose energy is measured.
func (r *rules) energyOf(p path, w *node) {
	n, measure := w.get("of"), r.root.get("measure")
	if !r.reference(n, p.with("of"), "workload", measure) {
		return
	}
	under := measure.get(n.text)
	kind := kindName(under)
	if why, known := unmetered[kind]; known {
		r.errs.add(n.at, p.with("of"), fmt.Sprintf("workload %s is of kind %s, whose energy is not measured: %s", show(n.text), kind, why), "allowed: a capacity, open-loop, decode or bench workload")
		return
	}
	r.openFor(p.with("window"), w, under, n.text)
}

// openFor warns of an open loop that is over before the window: it runs as its
// schedule says, and cannot be made longer.
func (r *rules) openFor(p path, w, under *node, name string) {
	at, asked := w.at, defaultWindow
	if n := w.get("window"); n != nil {
		at, asked = n.at, textOf(n)
	}
	window, err := time.ParseDuration(asked)
	sends, err2 := time.ParseDuration(textOf(under.get("arrivals").get("duration")))
	if err == nil && err2 == nil && sends < window {
		r.warnings.add(at, p, fmt.Sprintf("%s sends for %s, which is shorter than the window of %s", name, sends, window), "raise its duration: an open loop is run as it is scheduled")
	}
}

// recordings checks whom recordings are of, and how their clocks are declared.
func (r *rules) recordings(p path, traces *node) {
	for _, f := range traces.pairs() {
		if r.declared.field(f.name) == nil {
			r.errs.add(f.at, p.with(f.name), fmt.Sprintf("there is no candidate %q", show(f.name)), didYouMean(f.name, names(r.declared)))
		}
		for i, one := range f.val.items() {
			q := p.with(f.name).with(index(i))
			r.shift(one.get("offset"), q.with("offset"))
			r.pause(one.get("offsetError"), q.with("offsetError"))
			if one.get("offset") != nil && one.get("offsetError") == nil {
				r.errs.add(one.get("offset").at, q.with("offset"), "nobody says how far off it may be", "give offsetError")
			}
		}
	}
}

// pause is duration for a time that may be 0.
func (r *rules) pause(n *node, p path) {
	if s, ok := n.str(); ok && pausePattern.MatchString(s) {
		if d, err := time.ParseDuration(s); err != nil || d > maxTimeout {
			r.errs.add(n.at, p, fmt.Sprintf("found %q, allowed at most 24h", show(s)), "")
		}
	}
}

// shift is duration for a difference between two clocks.
func (r *rules) shift(n *node, p path) {
	if s, ok := n.str(); ok && shiftPattern.MatchString(s) {
		if d, err := time.ParseDuration(s); err != nil || d.Abs() > maxTimeout {
			r.errs.add(n.at, p, fmt.Sprintf("found %q, allowed at most 24h either way", show(s)), "set the clocks")
		}
	}
}

// pausePattern and shiftPattern are #Pause and #Shift: what they refuse is
// reported already.
var (
	pausePattern = regexp.MustCompile(`^(0|([0-9]+([.][0-9]+)?(us|ms|s|m|h))+)$`)
	shiftPattern = regexp.MustCompile(`^-?(0|([0-9]+([.][0-9]+)?(us|ms|s|m|h))+)$`)
)

// metered are the files of one energy workload.
type metered struct {
	traces map[string][]EnergyTrace // candidate -> recordings, File alone
	data   *File                    // of the calibration
}

// findMetered hashes the recordings and calibration data of energy workloads.
func (f *files) findMetered() {
	for _, w := range f.root.get("measure").pairs() {
		if kindName(w.val) != "energy" {
			continue
		}
		at := path{"measure", w.name}
		found := metered{traces: map[string][]EnergyTrace{}}
		for _, cand := range w.val.get("traces").pairs() {
			for i, n := range cand.val.items() {
				file := f.one(n.get("file"), at.with("traces").with(cand.name).with(index(i)).with("file"), maxRecording)
				found.traces[cand.name] = append(found.traces[cand.name], EnergyTrace{File: file})
			}
		}
		found.data = f.one(w.val.get("wallCalibration").get("data"), at.with("wallCalibration").with("data"), maxSnapshot)
		f.metered[w.name] = found
	}
}

// one hashes the file that n names; nil = it names none, or an error is reported.
func (f *files) one(n *node, p path, limit int64) *File {
	name, ok := n.str()
	if !ok {
		return nil
	}
	file, _, err := hashFile(f.dir, name, limit, 0)
	if err != nil {
		f.fail(n, p, err)
		return nil
	}
	return &file
}

// attachMetered puts the files of energy workloads into the campaign.
func (f *files) attachMetered(c *Campaign, byPath map[string]File) {
	for name, found := range f.metered {
		e := c.Measure[name].Energy
		for cand, list := range found.traces {
			for i, t := range list {
				e.Traces[cand][i].File = t.File
				byPath[t.File.Path] = *t.File
			}
		}
		if e.Calibration != nil && found.data != nil {
			e.Calibration.Data = found.data
			byPath[found.data.Path] = *found.data
		}
	}
}
