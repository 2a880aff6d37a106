package hardware

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// Select returns the report with the GPUs that names choose: indices, UUIDs of
// GPUs, UUIDs of MIG instances (the GPU then has only that instance). No names
// choose all. A name that is not there is an error, and so is choosing from GPUs
// that are not known.
func (r *Report) Select(names []string) (*Report, error) {
	out := *r
	if len(names) == 0 {
		return &out, nil
	}
	if r.GPUs == nil {
		return nil, step.WithHint(fmt.Errorf("gpus names %s, and the GPUs are not known: %s", strings.Join(names, ", "), r.Unknown["gpus"]),
			"leave gpus out, or make the GPUs readable: cupel doctor")
	}
	out.GPUs = []GPU{}
	for _, name := range names {
		g, ok := r.find(name)
		if !ok {
			return nil, step.WithHint(fmt.Errorf("gpus names %s, and there is no such GPU; there are %s", name, r.names()), "cupel-meter identify lists them with index and UUID")
		}
		out.GPUs = join(out.GPUs, g)
	}
	slices.SortFunc(out.GPUs, func(a, b GPU) int { return a.Index - b.Index })
	return &out, nil
}

// find returns the GPU of that name; for a MIG instance the GPU with it alone.
func (r *Report) find(name string) (GPU, bool) {
	for _, g := range r.GPUs {
		if strconv.Itoa(g.Index) == name || g.UUID != nil && *g.UUID == name {
			return g, true
		}
		for _, m := range g.Instances {
			if m.UUID != nil && *m.UUID == name {
				g.Instances = []MIG{m}
				return g, true
			}
		}
	}
	return GPU{}, false
}

// join adds a GPU; one that is there already gets the instances of both.
func join(all []GPU, g GPU) []GPU {
	i := slices.IndexFunc(all, func(o GPU) bool { return o.Index == g.Index })
	if i < 0 {
		return append(all, g)
	}
	merged := slices.Clone(all[i].Instances)
	for _, m := range g.Instances {
		if !slices.ContainsFunc(merged, func(o MIG) bool { return o.UUID != nil && m.UUID != nil && *o.UUID == *m.UUID }) {
			merged = append(merged, m)
		}
	}
	all[i].Instances = merged
	return all
}

// names lists the GPUs for an error, eight at most.
func (r *Report) names() string {
	if len(r.GPUs) == 0 {
		return "none"
	}
	var out []string
	for _, g := range r.GPUs {
		if len(out) == 8 {
			out = append(out, fmt.Sprintf("%d more", len(r.GPUs)-8))
			break
		}
		out = append(out, strings.TrimSpace(strconv.Itoa(g.Index)+" "+deref(g.UUID)))
	}
	return strings.Join(out, ", ")
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// UUIDs lists those of the GPUs, or of the instances of a GPU that is partitioned,
// sorted. It may be called on nil.
func (r *Report) UUIDs() (out []string) {
	if r == nil {
		return nil
	}
	for _, g := range r.GPUs {
		ids := g.uuids()
		if len(g.Instances) > 0 && g.UUID != nil {
			ids = ids[1:]
		}
		out = append(out, ids...)
	}
	slices.Sort(out)
	return out
}
