package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/cupel-dev/cupel/engine/step"
)

var errWriterEnded = errors.New("blob writer was used after Commit or Abort")

// Writer takes the content of one blob. Its name is not known before the end,
// so it is written under tmp/ and moved. Exactly one of Commit and Abort ends
// it; Abort after Commit does nothing, so that it can be deferred.
type Writer struct {
	s    *Store
	t    *temp
	enc  *zstd.Encoder
	hash hash.Hash
	size int64
	err  error // the first failure; nothing is committed after it
}

// Create begins a blob.
func (s *Store) Create() (*Writer, error) {
	t, err := s.disk.temp(s.path("tmp"))
	if err != nil {
		return nil, err
	}
	return &Writer{s: s, t: t, enc: getEncoder(t), hash: sha256.New()}, nil
}

// Write implements io.Writer. A failure is final.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.hash.Write(p)
	n, err := w.enc.Write(p)
	w.size += int64(n)
	if err != nil {
		w.fail(err)
	}
	return n, err
}

// Commit publishes the blob under the digest of its content and returns that
// and the content's size in bytes. When it returns nil, the blob survives a
// power failure. Content that is there already is kept if it is sound and
// replaced if it is not.
func (w *Writer) Commit() (step.Digest, int64, error) {
	if w.err != nil {
		return step.Digest{}, 0, w.err
	}
	err := w.enc.Close()
	if err == nil {
		err = w.t.settle(frozen)
	}
	d := step.Digest(w.hash.Sum(nil))
	if err == nil {
		err = w.s.adopt(w.t, d)
	}
	if err != nil {
		w.fail(err)
		return step.Digest{}, 0, err
	}
	w.fail(errWriterEnded)
	return d, w.size, nil
}

// Abort drops what was written.
func (w *Writer) Abort() { w.fail(errWriterEnded) }

// fail ends the writer, once, and lets go of what it holds.
func (w *Writer) fail(err error) {
	if w.err != nil {
		return
	}
	w.err = err
	putEncoder(w.enc)
	w.enc = nil
	w.t.discard()
}

// adopt gives the settled file t its place as object d.
func (s *Store) adopt(t *temp, d step.Digest) error {
	path := s.objectPath(d)
	if _, err := os.Lstat(path); err != nil {
		return t.replace(path)
	}
	same, err := sameBytes(path, t.path)
	if err == nil && !same { // another compressor, or damage
		err = s.Verify(d)
	}
	var damaged *Damaged
	switch {
	case err == nil:
		// It may have been renamed but not yet synced by another process.
		return s.disk.syncDir(filepath.Dir(path))
	case errors.As(err, &damaged):
		if err := s.quarantine(d, damaged.Why); err != nil {
			return err
		}
		return t.replace(path)
	}
	return err
}

// sameBytes compares two files, the first of which is not trusted.
func sameBytes(untrusted, own string) (bool, error) {
	a, n, err := openRegular(untrusted)
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, m, err := openRegular(own)
	if err != nil {
		return false, err
	}
	defer b.Close()
	if n != m {
		return false, nil
	}
	var bufA, bufB [32 << 10]byte
	for {
		n, errA := io.ReadFull(a, bufA[:])
		m, errB := io.ReadFull(b, bufB[:])
		if !bytes.Equal(bufA[:n], bufB[:m]) {
			return false, nil
		}
		if errA != nil || errB != nil {
			return isEnd(errA) && isEnd(errB), nil
		}
	}
}

func isEnd(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// Put stores what r gives.
func (s *Store) Put(r io.Reader) (step.Digest, error) {
	w, err := s.Create()
	if err != nil {
		return step.Digest{}, err
	}
	defer w.Abort()
	if _, err := io.Copy(w, r); err != nil {
		return step.Digest{}, err
	}
	d, _, err := w.Commit()
	return d, err
}

// PutBytes stores b.
func (s *Store) PutBytes(b []byte) (step.Digest, error) { return s.Put(bytes.NewReader(b)) }

// PutFile stores the content of the file at path, which must be a regular file
// or a link to one.
func (s *Store) PutFile(path string) (step.Digest, error) {
	st, err := os.Stat(path)
	if err != nil {
		return step.Digest{}, err
	}
	if !st.Mode().IsRegular() {
		return step.Digest{}, fmt.Errorf("%s is not a regular file; only files can be stored", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return step.Digest{}, err
	}
	defer f.Close()
	return s.Put(f)
}
