package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/cupel-dev/cupel/engine/step"
)

// Has reports whether object d is there as a file. It reads nothing of it.
func (s *Store) Has(d step.Digest) bool {
	st, err := os.Lstat(s.objectPath(d))
	return err == nil && st.Mode().IsRegular() && st.Size() > 0
}

// Open opens object d. A reader that reaches io.EOF has read exactly what d
// names: where the content differs, *Damaged comes instead of io.EOF. It is
// ErrMissing when the object is absent. The caller closes the reader.
func (s *Store) Open(d step.Digest) (io.ReadCloser, error) {
	path := s.objectPath(d)
	f, size, err := openRegular(path)
	if err == nil && size == 0 {
		f.Close()
		err = &Damaged{Path: path, Why: "the file is empty"}
	}
	if err != nil {
		return nil, objectError(d, err)
	}
	r := &reader{digest: d, src: fileReader{f: f}, hash: sha256.New()}
	if r.dec, err = getDecoder(&r.src); err != nil {
		r.Close()
		return nil, objectError(d, err)
	}
	return r, nil
}

func objectError(d step.Digest, err error) error {
	var damaged *Damaged
	if errors.As(err, &damaged) {
		damaged.Digest = d
		return damaged
	}
	return fmt.Errorf("object %s: %w", d.Short(), err)
}

// reader decompresses and hashes on the way.
type reader struct {
	digest step.Digest
	src    fileReader
	dec    *decoder
	hash   hash.Hash
	err    error
}

// fileReader remembers a failure of the disk, which is not damage.
type fileReader struct {
	f   *os.File
	err error
}

func (r *fileReader) Read(p []byte) (int, error) {
	n, err := r.f.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

func (r *reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.dec.zstd.Read(p)
	r.hash.Write(p[:n])
	if err != nil {
		r.err = r.end(err)
	}
	return n, r.err
}

// end turns the end of decompression into the verdict.
func (r *reader) end(err error) error {
	switch {
	case r.src.err != nil:
		return objectError(r.digest, r.src.err)
	case err != io.EOF:
		return r.damaged(fmt.Sprintf("it does not decompress: %v", err))
	}
	if got := step.Digest(r.hash.Sum(nil)); got != r.digest {
		return r.damaged("its content hashes to " + got.Short())
	}
	return io.EOF
}

func (r *reader) damaged(why string) error {
	return &Damaged{Digest: r.digest, Path: r.src.f.Name(), Why: why}
}

func (r *reader) Close() error {
	if r.dec == nil {
		return nil
	}
	putDecoder(r.dec)
	r.dec, r.err = nil, os.ErrClosed
	return r.src.f.Close()
}

// Read returns the whole content of d, verified.
func (s *Store) Read(d step.Digest) ([]byte, error) {
	r, err := s.Open(d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Verify reads all of d: nil, ErrMissing, *Damaged, or a failure of the disk.
func (s *Store) Verify(d step.Digest) error {
	r, err := s.Open(d)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}
