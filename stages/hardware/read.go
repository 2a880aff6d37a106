package hardware

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
)

// maxReport bounds a report: thousands of processes on a thousand GPUs fit.
const maxReport = 16 << 20

// Remake is the hint of every error about a report.
const Remake = "make it on the serving host with: cupel-meter identify > host.json"

// Read reads a report that may come from anywhere. What it holds besides the
// fields of this version is left alone, as a newer meter says more. A null without
// a reason gets the reason not-said. A value that cannot be true is an error: a
// file is a statement that somebody makes.
func Read(from io.Reader) (*Report, error) {
	b, err := io.ReadAll(io.LimitReader(from, maxReport+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxReport:
		return nil, step.WithHint(fmt.Errorf("more than %d MiB, so it is no hardware report", maxReport>>20), Remake)
	case len(bytes.TrimSpace(b)) == 0:
		return nil, step.WithHint(errors.New("it is empty"), Remake)
	}
	r := new(Report)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, step.WithHint(fmt.Errorf("no hardware report: %w", err), Remake)
	}
	if r.Schema != Schema {
		return nil, step.WithHint(fmt.Errorf("no hardware report: schema is %.60q, want %q", r.Schema, Schema), Remake)
	}
	if err := r.check(); err != nil {
		return nil, step.WithHint(fmt.Errorf("no hardware report of a machine: %w", err), Remake)
	}
	r.Settle()
	return r, nil
}

// check refuses what cannot be true, the first by name.
func (r *Report) check() error {
	if r.Made.IsZero() {
		return errors.New("made is missing")
	}
	if len(r.GPUs) > MaxGPUs {
		return fmt.Errorf("gpus has %d entries, more than %d", len(r.GPUs), MaxGPUs)
	}
	if err := first("", r.doubts()); err != nil {
		return err
	}
	uuids := map[string]bool{}
	for i := range r.GPUs {
		g := &r.GPUs[i]
		if err := first(fmt.Sprintf("gpus[%d].", i), g.doubts()); err != nil {
			return err
		}
		for _, id := range g.uuids() {
			if uuids[id] {
				return fmt.Errorf("gpus[%d]: UUID %s is there twice", i, id)
			}
			uuids[id] = true
		}
		if slices.ContainsFunc(r.GPUs[:i], func(o GPU) bool { return o.Index == g.Index }) {
			return fmt.Errorf("gpus[%d]: index %d is there twice", i, g.Index)
		}
	}
	return nil
}

func first(where string, ds []doubt) error {
	if len(ds) == 0 {
		return nil
	}
	d := slices.MinFunc(ds, func(a, b doubt) int { return cmp.Compare(a.field, b.field) })
	return fmt.Errorf("%s%s %s", where, d.field, d.what)
}

// uuids are those of the GPU and of its instances, as far as they are known.
func (g *GPU) uuids() (out []string) {
	if g.UUID != nil {
		out = append(out, *g.UUID)
	}
	for _, m := range g.Instances {
		if m.UUID != nil {
			out = append(out, *m.UUID)
		}
	}
	return out
}
