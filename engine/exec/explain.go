package exec

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cupel-dev/cupel/engine/plan"
	"github.com/cupel-dev/cupel/engine/step"
)

// Explanation says why a step runs or not, against the nearest earlier record
// of the step with the same name.
type Explanation struct {
	Step     string       `json:"step"`
	Forecast Forecast     `json:"forecast"`
	Reason   string       `json:"reason,omitempty"`
	Key      string       `json:"key,omitempty"`
	Earlier  string       `json:"earlier,omitempty"` // key of the record that is compared with
	When     string       `json:"when,omitempty"`    // when that one was recorded
	Changes  []Difference `json:"changes,omitempty"` // what differs in the preimages
	Notes    []string     `json:"notes,omitempty"`   // what the runner remarked when it was recorded
}

// Difference is one field of a key's preimage that changed.
type Difference struct {
	Path string `json:"path"` // JSON pointer: /params/scorers/numeric/tol, /inputs/pin
	Was  string `json:"was"`  // JSON, "" = absent
	Is   string `json:"is"`
}

// Explain compares the key that a step would have now with the nearest earlier
// record of that name. When the step waits on outputs that are not known, the
// explanation is of the step that it waits for.
func (e *Engine) Explain(p *plan.Plan, name string) ([]Explanation, error) {
	rows, err := e.Preview(p)
	if err != nil {
		return nil, err
	}
	i := p.Index(name)
	if i < 0 {
		return nil, fmt.Errorf("the campaign has no step %q", name)
	}
	var out []Explanation
	for {
		row := rows[i]
		ex := Explanation{Step: row.Name, Forecast: row.Forecast, Reason: row.Reason, Key: row.Key}
		if row.Key != "" {
			if err := e.compareWithEarlier(p, row, &ex); err != nil {
				return nil, err
			}
		}
		out = append(out, ex)
		if row.Forecast != WillWait {
			return out, nil
		}
		i = p.Index(row.Reason[len("on "):])
	}
}

func (e *Engine) compareWithEarlier(p *plan.Plan, row Preview, ex *Explanation) error {
	now, err := e.preimageNow(p, row)
	if err != nil {
		return err
	}
	best := -1
	for _, rec := range history(e.Store, row.Name) { // newest first
		if rec.Key.String() == row.Key {
			if row.Forecast == WillHit {
				ex.Earlier, ex.When, ex.Notes = rec.Key.String(), rec.Finished.UTC().Format("2006-01-02 15:04:05"), rec.Notes
				return nil
			}
			continue
		}
		was, err := e.Store.Preimage(rec.Key)
		if err != nil {
			continue // a damaged preimage explains nothing; `store check` reports it
		}
		diff := diffJSON(was, now)
		if best >= 0 && len(diff) >= best {
			continue
		}
		best = len(diff)
		ex.Earlier, ex.When, ex.Changes = rec.Key.String(), rec.Finished.UTC().Format("2006-01-02 15:04:05"), diff
	}
	return nil
}

// preimageNow recomputes the preimage behind row.Key.
func (e *Engine) preimageNow(p *plan.Plan, row Preview) ([]byte, error) {
	if key, err := step.ParseKey(row.Key); err == nil {
		if b, err := e.Store.Preimage(key); err == nil {
			return b, nil
		}
	}
	known := map[string]*settled{}
	for _, s := range p.Steps {
		w, end := e.resolve(s, func(n string) *settled { return knownOr(known, n) })
		if s.Name == row.Name {
			return w.pre.Canonical()
		}
		if end == nil && w.stale != nil {
			end = serve(w.key, w.stale, "")
		}
		known[s.Name] = end
	}
	return nil, fmt.Errorf("no step %s", row.Name)
}

// diffJSON lists the leaves in which two JSON documents differ, by JSON pointer.
func diffJSON(was, is []byte) []Difference {
	var a, b any
	if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil {
		return nil
	}
	var out []Difference
	diffValues("", a, b, true, true, &out)
	return out
}

func diffValues(path string, a, b any, hasA, hasB bool, out *[]Difference) {
	ma, okA := a.(map[string]any)
	mb, okB := b.(map[string]any)
	if hasA && hasB && okA && okB {
		keys := slices.Collect(maps.Keys(ma))
		for k := range mb {
			if _, both := ma[k]; !both {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			va, inA := ma[k]
			vb, inB := mb[k]
			diffValues(path+"/"+pointerEscape(k), va, vb, inA, inB, out)
		}
		return
	}
	was, is := jsonText(a, hasA), jsonText(b, hasB)
	if was != is {
		*out = append(*out, Difference{Path: path, Was: was, Is: is})
	}
}

func jsonText(v any, present bool) string {
	if !present {
		return ""
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func pointerEscape(s string) string {
	var out []byte
	for i := range len(s) {
		switch s[i] {
		case '~':
			out = append(out, "~0"...)
		case '/':
			out = append(out, "~1"...)
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}
