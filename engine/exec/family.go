package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

// mostEarlier bounds the results of a family that a runner is shown. A set that
// grows every day has most of its rows in the one before; what only older ones
// hold is made again.
const mostEarlier = 16

// family is the digest of a step's family; ok is false for a step without one.
func family(s step.Step, pre step.Preimage) (d step.Digest, ok bool) {
	if s.Grows == nil {
		return d, false
	}
	d, err := pre.Family(*s.Grows)
	return d, err == nil
}

// earlier lists results of other steps of the family of w, newest first. A step
// that is to be refreshed is shown none: everything in it is made again.
func (e *Engine) earlier(w work) []step.Earlier {
	of, ok := family(w.s, w.pre)
	if !ok || e.refresh(w.s.Name) {
		return nil
	}
	keys := e.Store.Family(of)
	if len(keys) == 0 {
		keys, _ = e.Store.KeysByName(w.s.Name) // recorded before there were families
	}
	type result struct {
		step.Earlier
		finished time.Time
	}
	var found []result
	for _, key := range keys {
		if key == w.key || !e.belongs(key, w.s, of) {
			continue
		}
		rec, ok, why := e.Store.Latest(key)
		switch {
		case why == store.NoRecord || ok && rec.Outcome != store.Done:
		case why != "": // a record from before the one that is damaged is not what counts
			found = append(found, result{Earlier: broken(key, why)})
		default:
			found = append(found, result{e.result(rec), rec.Finished})
		}
	}
	slices.SortStableFunc(found, func(a, b result) int { return b.finished.Compare(a.finished) })
	var out []step.Earlier
	for _, r := range found[:min(len(found), mostEarlier)] {
		out = append(out, r.Earlier)
	}
	return out
}

func (e *Engine) result(rec store.Record) step.Earlier {
	return step.Earlier{Key: rec.Key, Record: rec.N, Open: func(output string) (io.ReadCloser, error) {
		o, ok := rec.Output(output)
		if !ok {
			return nil, fmt.Errorf("output %s of %s: %w", output, rec.Key.Short(), step.ErrNoInput)
		}
		return e.Store.Open(o.Digest)
	}}
}

// broken is a result of which nothing can be read. What is damaged is an error
// of the key's own step; here it costs work, and the runner says so.
func broken(key step.Key, why string) step.Earlier {
	return step.Earlier{Key: key, Open: func(string) (io.ReadCloser, error) { return nil, errors.New(why) }}
}

// belongs reports whether a key is of the family, by its preimage: the index
// only says where to look.
func (e *Engine) belongs(key step.Key, s step.Step, want step.Digest) bool {
	b, err := e.Store.Preimage(key)
	if err != nil {
		return false
	}
	var pre step.Preimage
	if json.Unmarshal(b, &pre) != nil {
		return false
	}
	got, ok := family(s, pre)
	return ok && got == want
}

// peek is what a runner is handed to say what running a step would send. It
// writes nothing.
type peek struct {
	e *Engine
	w work
}

// Step implements step.Known.
func (p peek) Step() step.Step { return p.w.s }

// Params implements step.Known.
func (p peek) Params(v any) error { return p.w.params(v) }

// Open implements step.Known. A file of the campaign may not be in the store
// yet.
func (p peek) Open(input string) (io.ReadCloser, error) {
	d, ok := p.w.pre.Inputs[input]
	if !ok {
		return nil, fmt.Errorf("%s: input %s: %w", p.w.s.Name, input, step.ErrNoInput)
	}
	if in := p.w.s.Inputs[input]; in.Step == "" && !p.e.Store.Has(d) {
		return openFile(in)
	}
	return p.e.Store.Open(d)
}

// Journal implements step.Known.
func (p peek) Journal(f func(line []byte) error) error {
	j, err := p.e.Store.Journal(p.w.key)
	if err != nil {
		return err
	}
	defer j.Close()
	return j.Each(f)
}

// Earlier implements step.Known.
func (p peek) Earlier() []step.Earlier { return p.e.earlier(p.w) }

// foresee asks the runner what a step that has to run would send. The plan's
// own bound stands when it cannot tell.
func (e *Engine) foresee(w work, row *Preview) {
	f, ok := e.Runners[w.s.Kind].(step.Forecaster)
	if !ok {
		return
	}
	cost, note, err := f.Forecast(peek{e, w})
	if err != nil {
		return
	}
	row.Cost = cost
	if note != "" {
		row.Reason = strings.TrimPrefix(row.Reason+"; "+note, "; ")
	}
}
