package suite

import (
	"bytes"
	"slices"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// Diff is what is different between two sets, by id.
type Diff struct {
	Same    int       `json:"same"`
	Added   []string  `json:"added"`
	Dropped []string  `json:"dropped"`
	Changed []Changed `json:"changed"`

	// Unread counts held-out items of both sets whose texts could differ and
	// that nobody opened: their ids and labels are the same.
	Unread int `json:"unread"`
}

// Changed is an item of both sets with the fields that differ. The field split
// says that it moved from one part to the other.
type Changed struct {
	ID     string   `json:"id"`
	Fields []string `json:"fields"`
}

// Empty reports whether nothing is known to differ.
func (d *Diff) Empty() bool { return len(d.Added)+len(d.Dropped)+len(d.Changed) == 0 }

// Compare compares two sets. open reads the held-out items of a set; it is nil
// where nobody has an identity, and is not called where digests say that both
// parts are the same.
func Compare(a, b *Set, open func(*Set, func(items.Item) error) error) (Diff, error) {
	if open != nil && sameHeldOut(a, b) {
		open = nil
	}
	left, err := fingerprints(a, open)
	if err != nil {
		return Diff{}, err
	}
	right, err := fingerprints(b, open)
	if err != nil {
		return Diff{}, err
	}
	d := Diff{Added: []string{}, Dropped: []string{}, Changed: []Changed{}}
	for id, l := range left {
		if _, ok := right[id]; !ok {
			d.Dropped = append(d.Dropped, id)
			continue
		}
		d.pair(id, l, right[id], sameHeldOut(a, b))
	}
	for id := range right {
		if _, ok := left[id]; !ok {
			d.Added = append(d.Added, id)
		}
	}
	slices.Sort(d.Added)
	slices.Sort(d.Dropped)
	slices.SortFunc(d.Changed, func(x, y Changed) int { return bytes.Compare([]byte(x.ID), []byte(y.ID)) })
	return d, nil
}

func sameHeldOut(a, b *Set) bool {
	return a.HasHeldOut() && b.HasHeldOut() && a.Split.HeldOut.SHA256 == b.Split.HeldOut.SHA256
}

func (d *Diff) pair(id string, l, r fingerprint, sameSealed bool) {
	var changed []string
	for _, f := range fields {
		if unread := l.sealed || r.sealed; unread && !f.indexed {
			continue
		}
		if l.fields[f.name] != r.fields[f.name] {
			changed = append(changed, f.name)
		}
	}
	if l.heldOut != r.heldOut {
		changed = append(changed, "split")
	}
	switch {
	case len(changed) > 0:
		d.Changed = append(d.Changed, Changed{id, changed})
	case (l.sealed || r.sealed) && !sameSealed:
		d.Unread++
	default:
		d.Same++
	}
}

// fingerprint is one item: the digest of every field that it has.
type fingerprint struct {
	heldOut bool
	sealed  bool // only the index was read
	fields  map[string]step.Digest
}

func fingerprints(s *Set, open func(*Set, func(items.Item) error) error) (map[string]fingerprint, error) {
	out := map[string]fingerprint{}
	add := func(sealed bool) func(items.Item) error {
		return func(it items.Item) error {
			f, err := digests(&it)
			out[it.ID] = fingerprint{heldOut: sealed, fields: f}
			return err
		}
	}
	if err := s.Open(add(false)); err != nil {
		return nil, err
	}
	if open != nil && s.HasHeldOut() {
		return out, open(s, add(true))
	}
	return out, s.Index(func(e Entry) error {
		f, err := digests(&items.Item{ID: e.ID, Strata: e.Strata, Source: e.Source, Weight: e.Weight, Cluster: e.Cluster})
		out[e.ID] = fingerprint{heldOut: true, sealed: true, fields: f}
		return err
	})
}

// field is one that a diff names.
type field struct {
	name    string
	indexed bool // the index has it
	value   func(*line) any
}

var fields = []field{
	{"strata", true, func(l *line) any { return l.Strata }},
	{"input", false, func(l *line) any { return l.Input }},
	{"tools", false, func(l *line) any { return l.Tools }},
	{"system", false, func(l *line) any { return l.System }},
	{"scorer", false, func(l *line) any { return l.Scorer }},
	{"answer", false, func(l *line) any { return l.Answer }},
	{"tol", false, func(l *line) any { return l.Tol }},
	{"facts", false, func(l *line) any { return l.Facts }},
	{"schema", false, func(l *line) any { return l.Schema }},
	{"expect_tool", false, func(l *line) any { return l.ExpectTool }},
	{"tests", false, func(l *line) any { return l.Tests }},
	{"rubric", false, func(l *line) any { return l.Rubric }},
	{"source", true, func(l *line) any { return l.Source }},
	{"weight", true, func(l *line) any { return l.Weight }},
	{"cluster", true, func(l *line) any { return l.Cluster }},
}

func digests(it *items.Item) (map[string]step.Digest, error) {
	l := asLine(it)
	out := make(map[string]step.Digest, len(fields))
	for _, f := range fields {
		b, err := encodeLine(f.value(&l))
		if err != nil {
			return nil, err
		}
		out[f.name] = step.Sum(b)
	}
	return out, nil
}
