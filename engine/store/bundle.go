package store

import (
	"archive/tar"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
)

// Selection names what a bundle is to hold. What the records and preimages of
// the keys name goes with them; so do the keys and objects that the refs name.
type Selection struct {
	Refs    []string
	Keys    []step.Key
	Objects []step.Digest // besides those
	// Beside are keys that stay out and whose inputs say all the same which record
	// of a key is meant.
	Beside []step.Key
}

// Contents says what a bundle holds: the first file in it.
type Contents struct {
	Format  int             `json:"format"` // set by the store
	Refs    []string        `json:"refs,omitzero"`
	Keys    []step.Key      `json:"keys,omitzero"`
	Objects []BundledObject `json:"objects,omitzero"` // by digest
	Left    []step.Digest   `json:"left,omitzero"`    // inputs that are no objects: sealed ones
}

// BundledObject is one object by digest, with the bytes of its content.
type BundledObject struct {
	Digest step.Digest `json:"digest"`
	Size   int64       `json:"size"`
}

const contentsName = "bundle.json"

// bundled is a bundle that is being made.
type bundled struct {
	s       *Store
	refs    []Ref
	records map[step.Key]Record
	objects map[step.Digest]bool
	left    map[step.Digest]bool
}

// Export writes a bundle, a tar file (docs/format.md). Of each key it takes the
// one record that what follows rests on. Everything is verified while it is
// read; an error says what is missing or damaged, and what was written until
// then is no bundle.
func (s *Store) Export(w io.Writer, sel Selection) (Contents, error) {
	b := &bundled{s: s, records: map[step.Key]Record{}, objects: map[step.Digest]bool{}, left: map[step.Digest]bool{}}
	if err := b.collect(sel); err != nil {
		return Contents{}, err
	}
	c, err := b.contents()
	if err != nil {
		return Contents{}, err
	}
	return c, b.write(tar.NewWriter(w), c)
}

func (b *bundled) collect(sel Selection) error {
	keys := slices.Clone(sel.Keys)
	for _, name := range slices.Sorted(slices.Values(sel.Refs)) {
		r, err := b.s.Ref(name)
		if err != nil {
			return err
		}
		b.refs = append(b.refs, r)
		keys = append(keys, r.Keys...)
		b.add(r.Objects...)
	}
	b.add(sel.Objects...)
	slices.SortFunc(keys, func(x, y step.Key) int { return strings.Compare(x.String(), y.String()) })
	keys = slices.Compact(keys)
	used, err := b.inputs(keys)
	if err != nil {
		return err
	}
	for _, k := range sel.Beside {
		pre, err := b.preimage(k)
		if err != nil {
			return err
		}
		for _, d := range pre.Inputs {
			used[d] = true
		}
	}
	for _, k := range keys {
		r, err := b.record(k, used)
		if err != nil {
			return err
		}
		b.records[k] = r
		for _, o := range r.Outputs {
			b.add(o.Digest)
		}
	}
	return nil
}

func (b *bundled) add(ds ...step.Digest) {
	for _, d := range ds {
		b.objects[d] = true
	}
}

// inputs are what the preimages of the keys name. An input that is no object is
// one whose content the store never sees; a missing output of another key shows
// when that key's record is looked for.
func (b *bundled) inputs(keys []step.Key) (map[step.Digest]bool, error) {
	used := map[step.Digest]bool{}
	for _, k := range keys {
		pre, err := b.preimage(k)
		if err != nil {
			return nil, err
		}
		for _, d := range pre.Inputs {
			used[d] = true
			if b.s.Has(d) {
				b.add(d)
			} else {
				b.left[d] = true
			}
		}
	}
	return used, nil
}

// record is the record of k of which others rest on the most outputs, and the
// newest of several: an endpoint that was looked at again, or a measurement that
// was made again, may have left something else, and the same in part.
func (b *bundled) record(k step.Key, used map[step.Digest]bool) (Record, error) {
	all, _ := b.s.Records(k)
	best, most := Record{}, 0
	for _, r := range all {
		n := 0
		for _, o := range r.Outputs {
			if used[o.Digest] {
				n++
			}
		}
		if _, gone := b.s.firstMissing(r); !gone && n > 0 && n >= most {
			best, most = r, n
		}
	}
	if most > 0 {
		return best, nil
	}
	r, ok, why := b.s.Latest(k)
	if !ok {
		return Record{}, fmt.Errorf("key %s: %s: %w", k.Short(), why, ErrMissing)
	}
	return r, nil
}

// Together returns of each key the record that the others rest on, as a bundle
// of them has it.
func (s *Store) Together(keys []step.Key) (map[step.Key]Record, error) {
	b := &bundled{s: s, records: map[step.Key]Record{}, objects: map[step.Digest]bool{}, left: map[step.Digest]bool{}}
	err := b.collect(Selection{Keys: keys})
	return b.records, err
}

// contents measures the objects, which verifies them.
func (b *bundled) contents() (Contents, error) {
	c := Contents{Format: Format}
	for _, r := range b.refs {
		c.Refs = append(c.Refs, r.Name)
	}
	for k := range b.records {
		c.Keys = append(c.Keys, k)
	}
	slices.SortFunc(c.Keys, func(x, y step.Key) int { return strings.Compare(x.String(), y.String()) })
	for d := range b.objects {
		n, err := b.s.size(d)
		if err != nil {
			return Contents{}, err
		}
		c.Objects = append(c.Objects, BundledObject{d, n})
	}
	slices.SortFunc(c.Objects, func(x, y BundledObject) int { return strings.Compare(x.Digest.String(), y.Digest.String()) })
	for d := range b.left {
		c.Left = append(c.Left, d)
	}
	slices.SortFunc(c.Left, func(x, y step.Digest) int { return strings.Compare(x.String(), y.String()) })
	return c, nil
}

// size reads all of d and counts its content.
func (s *Store) size(d step.Digest) (int64, error) {
	r, err := s.Open(d)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return io.Copy(io.Discard, r)
}

// write follows the order of docs/format.md: what a file names stands before it.
func (b *bundled) write(w *tar.Writer, c Contents) error {
	head, err := seal(c)
	if err != nil {
		return err
	}
	if err := writeEntry(w, contentsName, head); err != nil {
		return err
	}
	for _, o := range c.Objects {
		if err := b.writeObject(w, o.Digest); err != nil {
			return err
		}
	}
	for _, k := range c.Keys {
		if err := b.writeKey(w, k); err != nil {
			return err
		}
	}
	for _, r := range b.refs {
		r.Format = Format
		sealed, err := seal(r)
		if err != nil {
			return err
		}
		if err := writeEntry(w, "refs/"+r.Name+refSuffix, sealed); err != nil {
			return err
		}
	}
	return w.Close()
}

func (b *bundled) writeKey(w *tar.Writer, k step.Key) error {
	pre, err := b.s.Preimage(k)
	if err != nil {
		return err
	}
	x := k.String()
	if err := writeEntry(w, "keys/"+x[:2]+"/"+x+".json", pre); err != nil {
		return err
	}
	rec, err := encodeRecord(b.records[k], 1)
	if err != nil {
		return err
	}
	return writeEntry(w, "steps/"+x[:2]+"/"+x+"/"+recordName(1), rec)
}

// writeObject copies the frame as it lies there.
func (b *bundled) writeObject(w *tar.Writer, d step.Digest) error {
	f, size, err := openRegular(b.s.objectPath(d))
	if err != nil {
		return objectError(d, err)
	}
	defer f.Close()
	x := d.String()
	if err := w.WriteHeader(entry("objects/"+x[:2]+"/"+x, size)); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

func writeEntry(w *tar.Writer, name string, content []byte) error {
	if err := w.WriteHeader(entry(name, int64(len(content)))); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}

// entry has nothing of the machine in it, so that the same content makes the
// same bundle.
func entry(name string, size int64) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o444, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
}

// preimage reads what k is the hash of.
func (b *bundled) preimage(k step.Key) (p step.Preimage, err error) {
	raw, err := b.s.Preimage(k)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	return p, err
}
