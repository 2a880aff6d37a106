package step

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Digest is the SHA-256 of a blob's uncompressed content. The zero value means "none".
type Digest [sha256.Size]byte

// Key is the hash of everything that goes into a step: see Preimage. It is a
// type of its own so that a key can never be looked up where a digest belongs.
type Key [sha256.Size]byte

// Sum returns the digest of b.
func Sum(b []byte) Digest { return sha256.Sum256(b) }

// ParseDigest reads 64 lower-case hexadecimal digits.
func ParseDigest(s string) (Digest, error) {
	b, err := parseHex(s)
	return Digest(b), err
}

// ParseKey reads 64 lower-case hexadecimal digits.
func ParseKey(s string) (Key, error) {
	b, err := parseHex(s)
	return Key(b), err
}

func parseHex(s string) (out [sha256.Size]byte, err error) {
	if len(s) != 2*sha256.Size {
		return out, fmt.Errorf("digest %q: %d characters, want 64 hexadecimal digits", clip(s), len(s))
	}
	for i := range len(s) {
		if c := s[i]; !('0' <= c && c <= '9' || 'a' <= c && c <= 'f') {
			return out, fmt.Errorf("digest %q: character %d is not a lower-case hexadecimal digit", clip(s), i+1)
		}
	}
	_, err = hex.Decode(out[:], []byte(s))
	return out, err
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// String returns 64 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Short returns the first 12 digits, for people.
func (d Digest) Short() string { return d.String()[:12] }

// IsZero reports whether d is "none".
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText and UnmarshalText make a Digest a JSON string.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is the strict inverse of MarshalText.
func (d *Digest) UnmarshalText(b []byte) (err error) { *d, err = ParseDigest(string(b)); return err }

// String returns 64 hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// Short returns the first 12 digits, for people.
func (k Key) Short() string { return k.String()[:12] }

// IsZero reports whether k is "none".
func (k Key) IsZero() bool { return k == Key{} }

// MarshalText and UnmarshalText make a Key a JSON string.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the strict inverse of MarshalText.
func (k *Key) UnmarshalText(b []byte) (err error) { *k, err = ParseKey(string(b)); return err }
