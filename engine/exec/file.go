package exec

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/suites"
)

// openFile opens a file of the campaign where it is. As with an object, who
// reaches io.EOF has read what the digest names.
func openFile(in step.Input) (io.ReadCloser, error) {
	f, err := spec.OpenFile(in.Path)
	if err != nil {
		return nil, err
	}
	return &hashed{f, sha256.New(), in}, nil
}

type hashed struct {
	io.ReadCloser
	hash hash.Hash
	in   step.Input
}

func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.hash.Write(p[:n])
	if err == io.EOF && step.Digest(h.hash.Sum(nil)) != h.in.Blob {
		err = step.WithHint(fmt.Errorf("%s changed while the campaign was being read", h.in.Path), "run again")
	}
	return n, err
}

// storeFile puts a file of the campaign into the store.
func (r *run) storeFile(path string) (step.Digest, error) {
	if !suites.Shipped(path) {
		return r.e.Store.PutFile(path)
	}
	f, err := suites.Open(path)
	if err != nil {
		return step.Digest{}, err
	}
	defer f.Close()
	return r.e.Store.Put(f)
}
