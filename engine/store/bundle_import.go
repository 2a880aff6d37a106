package store

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// maxAhead is how far the clock of the machine that made a bundle may be ahead.
const maxAhead = 5 * time.Minute

// Imported says what became of a bundle.
type Imported struct {
	Contents
	Records int      // that were not here
	Kept    []string // refs of this store that are as new as the bundle's, and stay
}

// incoming is a bundle that is being read.
type incoming struct {
	s    *Store
	r    *tar.Reader
	left int64 // bytes of content that may still come
	refs []Ref
	out  Imported
}

// Import reads a bundle into the store, in the order in which it was written:
// objects, then records, then refs, each verified before it is there. What was
// imported before an error is sound and does no harm. limit bounds the content
// of all objects together, in bytes.
//
// Results of this store stay what they are: a record of the bundle goes before
// the newest one here, and a ref replaces an older one only.
func (s *Store) Import(r io.Reader, limit int64) (Imported, error) {
	in := &incoming{s: s, r: tar.NewReader(r), left: limit}
	for _, read := range []func() error{in.contents, in.objects, in.records, in.readRefs, in.end, in.setRefs} {
		if err := read(); err != nil {
			return in.out, fmt.Errorf("bundle: %w", err)
		}
	}
	return in.out, nil
}

// next returns the next file, which must be the one called name.
func (in *incoming) next(name string) (int64, error) {
	h, err := in.r.Next()
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return 0, fmt.Errorf("it ends before %s", name)
	case err != nil:
		return 0, fmt.Errorf("%s: %w", name, err)
	case h.Typeflag != tar.TypeReg || h.Name != name:
		return 0, fmt.Errorf("it has %q where %s was to come", clipName(h.Name), name)
	}
	return h.Size, nil
}

func clipName(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}

func (in *incoming) small(name string) ([]byte, error) {
	size, err := in.next(name)
	if err != nil {
		return nil, err
	}
	if size > maxSmall {
		return nil, fmt.Errorf("%s: %d bytes are too many", name, size)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(in.r, b); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func (in *incoming) contents() error {
	b, err := in.small(contentsName)
	if err != nil {
		return step.WithHint(err, "a bundle is what `cupel store export` writes")
	}
	c := &in.out.Contents
	if err := openSealed(b, c); err != nil {
		return fmt.Errorf("%s: %w", contentsName, err)
	}
	if !ascending(c.Objects, func(o BundledObject) string { return o.Digest.String() }) || !ascending(c.Keys, step.Key.String) ||
		!ascending(c.Refs, func(s string) string { return s }) {
		return errors.New(contentsName + ": its lists are not in order, or hold something twice")
	}
	for _, o := range c.Objects {
		if o.Size < 0 || o.Size > in.left {
			return step.WithHint(errors.New("its objects are larger than is allowed"), "allow more with --max-bytes")
		}
		in.left -= o.Size
	}
	for _, name := range c.Refs {
		if err := checkRefName(name); err != nil {
			return err
		}
	}
	return nil
}

func ascending[T any](list []T, by func(T) string) bool {
	for i := 1; i < len(list); i++ {
		if by(list[i-1]) >= by(list[i]) {
			return false
		}
	}
	return true
}

func (in *incoming) objects() error {
	for _, o := range in.out.Objects {
		if err := in.object(o); err != nil {
			return fmt.Errorf("object %s: %w", o.Digest.Short(), err)
		}
	}
	return nil
}

// object reads no more content than was announced.
func (in *incoming) object(o BundledObject) error {
	x := o.Digest.String()
	if _, err := in.next("objects/" + x[:2] + "/" + x); err != nil {
		return err
	}
	dec, err := getDecoder(in.r)
	if err != nil {
		return err
	}
	defer putDecoder(dec)
	w, err := in.s.Create()
	if err != nil {
		return err
	}
	defer w.Abort()
	n, err := io.Copy(w, io.LimitReader(dec.zstd, o.Size+1))
	if err != nil {
		return err
	}
	if got := step.Digest(w.hash.Sum(nil)); n != o.Size || got != o.Digest {
		return fmt.Errorf("its content is not what its name says (%d bytes, %s)", n, got.Short())
	}
	_, _, err = w.Commit()
	return err
}

func (in *incoming) records() error {
	for _, k := range in.out.Keys {
		x := k.String()
		pre, err := in.small("keys/" + x[:2] + "/" + x + ".json")
		if err != nil {
			return err
		}
		if canon, err := step.Canonical(pre); err != nil || !bytes.Equal(canon, pre) || step.KeyOf(pre) != k {
			return fmt.Errorf("the preimage of key %s is not what it is the hash of", k.Short())
		}
		b, err := in.small("steps/" + x[:2] + "/" + x + "/" + recordName(1))
		if err != nil {
			return err
		}
		r, err := decodeRecord(b, k, 1)
		if err != nil {
			return fmt.Errorf("record of key %s: %w", k.Short(), err)
		}
		if err := in.record(k, pre, r); err != nil {
			return err
		}
	}
	return nil
}

// record puts r before the newest record here, by writing that once more: it is
// what steps of this store are served from.
func (in *incoming) record(k step.Key, pre []byte, r Record) error {
	here, _ := in.s.Records(k)
	if slices.ContainsFunc(here, func(h Record) bool { return sameExecution(h, r) }) {
		return nil
	}
	newest, ok, _ := in.s.Latest(k)
	if err := in.s.PutRecord(k, pre, r); err != nil {
		return err
	}
	in.out.Records++
	if ok {
		return in.s.PutRecord(k, pre, newest)
	}
	return nil
}

func sameExecution(a, b Record) bool {
	return a.Outcome == b.Outcome && a.Started.Equal(b.Started) && a.Finished.Equal(b.Finished) && slices.Equal(a.Outputs, b.Outputs)
}

func (in *incoming) readRefs() error {
	for _, name := range in.out.Refs {
		b, err := in.small("refs/" + name + refSuffix)
		if err != nil {
			return err
		}
		var r Ref
		if err := openSealed(b, &r); err != nil {
			return fmt.Errorf("ref %s: %w", name, err)
		}
		if r.Name != name {
			return fmt.Errorf("ref %s: it is the ref %q", name, clipName(r.Name))
		}
		if r.Set.After(in.s.clock().Add(maxAhead)) {
			return fmt.Errorf("ref %s: it was set at %s, which has not come yet", name, r.Set.Format(time.RFC3339))
		}
		in.refs = append(in.refs, r)
	}
	return nil
}

func (in *incoming) setRefs() error {
	for _, r := range in.refs {
		if err := in.ref(r); err != nil {
			return err
		}
	}
	return nil
}

func (in *incoming) ref(r Ref) error {
	here, err := in.s.Ref(r.Name)
	switch {
	case err == nil && slices.Equal(here.Objects, r.Objects) && slices.Equal(here.Keys, r.Keys) && here.Note == r.Note:
		return nil
	case err == nil && !r.Set.After(here.Set):
		in.out.Kept = append(in.out.Kept, r.Name)
		return nil
	case err != nil && !errors.Is(err, ErrMissing):
		return err
	}
	return in.s.SetRef(r.Name, r)
}

func (in *incoming) end() error {
	h, err := in.r.Next()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("it goes on with %q behind what it announced", strings.TrimSpace(clipName(h.Name)))
}
