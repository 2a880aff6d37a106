package inventory

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strconv"

	"github.com/cupel-dev/cupel/engine/step"
)

// Hasher computes both identities of a file at once.
type Hasher struct {
	sha256, blob hash.Hash
	n            int64
}

// NewHasher begins a file whose size is known: git puts it in front.
func NewHasher(size int64) *Hasher {
	h := &Hasher{sha256: sha256.New(), blob: sha1.New()}
	io.WriteString(h.blob, "blob "+strconv.FormatInt(size, 10)+"\x00")
	return h
}

// Write never fails.
func (h *Hasher) Write(p []byte) (int, error) {
	h.n += int64(len(p))
	h.sha256.Write(p)
	return h.blob.Write(p)
}

// Size is the number of bytes so far.
func (h *Hasher) Size() int64 { return h.n }

// SHA256 is the digest of the content.
func (h *Hasher) SHA256() step.Digest { return step.Digest(h.sha256.Sum(nil)) }

// GitBlob is the object id of the content in git, 40 hex. It means something
// only when the size that was announced is the size that came.
func (h *Hasher) GitBlob() string { return hex.EncodeToString(h.blob.Sum(nil)) }

// Copy hashes what r gives, until ctx ends.
func (h *Hasher) Copy(ctx context.Context, r io.Reader) error {
	buf := make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
