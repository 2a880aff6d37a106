package suite

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"maps"
	"path/filepath"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// Opening is leave to read the held-out items, which stands in the access log.
type Opening struct {
	set *Set
	key Key
}

// Begin records that the texts of so many held-out items are opened. It fails,
// and records nothing, when the identity does not fit; an opening that cannot be
// recorded does not happen.
func (s *Set) Begin(k Key, opened int) (*Opening, error) {
	o := &Opening{s, k}
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	if err := appendAccess(s.dir, Access{Time: k.Now, As: k.As, Command: k.Command, Why: k.Why, Items: opened}); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return o, nil
}

// Reader returns the text of the held-out items, decrypted while it is read.
// Whoever reads to io.EOF without an error has read what the digest of the split
// names.
func (o *Opening) Reader() (io.ReadCloser, error) {
	s := o.set
	if !s.HasHeldOut() {
		return nil, fmt.Errorf("%s holds nothing out", s.Name)
	}
	if len(o.key.Identities) == 0 {
		return nil, fmt.Errorf("%s: %w", s.Name, ErrLocked)
	}
	r, c, err := unseal(filepath.Join(s.dir, s.Split.HeldOut.File), o.key.Identities)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return &unsealed{s: s, r: r, Closer: c, sum: sha256.New()}, nil
}

// unsealed hashes what is read and compares at the end.
type unsealed struct {
	s *Set
	r io.Reader
	io.Closer
	sum hash.Hash
}

func (u *unsealed) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.sum.Write(p[:n])
	switch {
	case err == nil:
		return n, nil
	case err != io.EOF:
		return n, fmt.Errorf("%s: %s cannot be decrypted: %w", u.s.Name, SealedFile, err)
	}
	if got := step.Digest(u.sum.Sum(nil)); got != u.s.Split.HeldOut.SHA256 {
		return n, fmt.Errorf("%s: %w", u.s.Name, tampered("the text of "+SealedFile, u.s.Split.HeldOut.SHA256, got))
	}
	return n, io.EOF
}

// HeldOut opens the held-out items and reads them in order.
func (s *Set) HeldOut(k Key, opened int, f func(items.Item) error) error {
	if !s.HasHeldOut() {
		return nil
	}
	o, err := s.Begin(k, opened)
	if err != nil {
		return err
	}
	return o.Items(f)
}

// Items reads the items in order. Each is compared with the index, which is what
// everything that needs no identity rests on; f has then seen those before the
// first that differs. Errors quote no text.
func (o *Opening) Items(f func(items.Item) error) error {
	s := o.set
	r, err := o.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	var index []Entry
	err = s.Index(func(e Entry) error { index = append(index, e); return nil })
	if err != nil {
		return err
	}
	n := 0
	err = items.ReadNamed(filepath.Join(s.Name, SealedFile), r, func(it items.Item) error {
		if n == len(index) || !index[n].describes(&it) {
			return fmt.Errorf("%s: item %q %w: %s says otherwise", s.Name, it.ID, ErrTampered, IndexFile)
		}
		n++
		return f(it)
	})
	if err == nil && n != len(index) {
		err = fmt.Errorf("%s: %s %w: it lists %d items, and %d are held out", s.Name, IndexFile, ErrTampered, len(index), n)
	}
	return items.WithoutText(err)
}

func (e *Entry) describes(it *items.Item) bool {
	weight := e.Weight == nil && it.Weight == nil || e.Weight != nil && it.Weight != nil && *e.Weight == *it.Weight
	return e.ID == it.ID && maps.Equal(e.Strata, it.Strata) && e.Source == it.Source && weight && e.Cluster == it.Cluster
}

// Labels is an item as far as the index knows it: without any text, and so
// without what it is asked and scored by.
func (e *Entry) Labels() items.Item {
	return items.Item{ID: e.ID, Strata: e.Strata, Source: e.Source, Weight: e.Weight, Cluster: e.Cluster}
}
