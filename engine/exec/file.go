package exec

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/cupel-dev/cupel/engine/step"
)

// openFile opens a file of the campaign where it is. As with an object, who
// reaches io.EOF has read what the digest names.
func openFile(in step.Input) (io.ReadCloser, error) {
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, err
	}
	return &hashed{f, sha256.New(), in}, nil
}

type hashed struct {
	*os.File
	hash hash.Hash
	in   step.Input
}

func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.File.Read(p)
	h.hash.Write(p[:n])
	if err == io.EOF && step.Digest(h.hash.Sum(nil)) != h.in.Blob {
		err = step.WithHint(fmt.Errorf("%s changed while the campaign was being read", h.in.Path), "run again")
	}
	return n, err
}
