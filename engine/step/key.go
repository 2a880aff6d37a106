package step

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// keyDomain separates step keys from every other hash; docs/format.md.
const keyDomain = "cupel/step/v1\x00"

// Preimage is what a key is the hash of. It is stored beside the records, so
// that `cupel explain` is a field-by-field difference of two of them.
type Preimage struct {
	Kind     string            `json:"kind"`
	Revision int               `json:"revision"`
	Trial    int               `json:"trial"`
	Params   json.RawMessage   `json:"params"`
	Inputs   map[string]Digest `json:"inputs"`
}

// NewPreimage takes from s what its key depends on. inputs holds the digest of
// every input that is present.
func NewPreimage(s Step, inputs map[string]Digest) (Preimage, error) {
	params := s.Params
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	canon, err := Canonical(params)
	if err != nil {
		return Preimage{}, fmt.Errorf("step %s: params: %w", s.Name, err)
	}
	if inputs == nil {
		inputs = map[string]Digest{}
	}
	return Preimage{Kind: s.Kind, Revision: s.Revision, Trial: s.Trial, Params: canon, Inputs: inputs}, nil
}

// Canonical returns p in RFC 8785 form: the bytes that are hashed and stored.
func (p Preimage) Canonical() ([]byte, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return Canonical(b)
}

// Key hashes the canonical preimage: SHA-256(domain, length as 8 bytes
// big-endian, bytes).
func (p Preimage) Key() (Key, error) {
	b, err := p.Canonical()
	if err != nil {
		return Key{}, err
	}
	return KeyOf(b), nil
}

// KeyOf hashes a preimage that is canonical already.
func KeyOf(canonical []byte) Key { return Key(hashDomain(keyDomain, canonical)) }

// familyDomain separates families from keys: neither can be taken for the other.
const familyDomain = "cupel/family/v1\x00"

// Family hashes p without what g names. What p does not have is left out as well.
func (p Preimage) Family(g Growth) (Digest, error) {
	var params map[string]json.RawMessage
	if err := json.Unmarshal(p.Params, &params); err != nil {
		return Digest{}, fmt.Errorf("params are no object: %w", err)
	}
	for _, name := range g.Params {
		delete(params, name)
	}
	inputs := maps.Clone(p.Inputs)
	for _, name := range g.Inputs {
		delete(inputs, name)
	}
	rest, err := json.Marshal(params)
	if err != nil {
		return Digest{}, err
	}
	p.Params, p.Inputs = rest, inputs
	b, err := p.Canonical()
	if err != nil {
		return Digest{}, err
	}
	return Digest(hashDomain(familyDomain, b)), nil
}

func hashDomain(domain string, b []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(domain))
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(b)))
	h.Write(n[:])
	h.Write(b)
	return [sha256.Size]byte(h.Sum(nil))
}

// SpecDigest hashes a canonical campaign; its domain differs from a key's.
func SpecDigest(canonical []byte) Digest {
	return Digest(hashDomain("cupel/spec/v1\x00", canonical))
}

// Canonical brings JSON into RFC 8785 form. RFC 8785 knows float64 only, so
// two different decimals could hash alike; a number that would not survive
// (an integer beyond 2^53-1, a decimal that float64 cannot give back) is an
// error, as are duplicate names and invalid UTF-8.
func Canonical(b []byte) ([]byte, error) {
	if err := checkNumbers(b); err != nil {
		return nil, err
	}
	v := jsontext.Value(bytes.Clone(b))
	if err := v.Canonicalize(); err != nil {
		return nil, fmt.Errorf("not canonical JSON: %w", err)
	}
	return v, nil
}

func checkNumbers(b []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(b))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil // the end, or an error that Canonicalize reports better
		}
		if tok.Kind() != '0' {
			continue
		}
		if err := CheckNumber(tok.String()); err != nil {
			return fmt.Errorf("%s: %w", dec.StackPointer(), err)
		}
	}
}

// CheckNumber refuses a decimal literal that float64 does not represent so that
// it prints back as the same number.
func CheckNumber(lit string) error {
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil {
		return fmt.Errorf("number %s is out of range", clip(lit))
	}
	if len(lit) > 400 {
		return fmt.Errorf("number %s is too long", clip(lit))
	}
	exact, ok := new(big.Rat).SetString(lit)
	if !ok {
		return fmt.Errorf("number %s cannot be read", clip(lit))
	}
	short, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if exact.Cmp(short) != 0 {
		return fmt.Errorf("number %s is not exact in float64 (it would become %s)", clip(lit), strconv.FormatFloat(f, 'g', -1, 64))
	}
	// RFC 8785 prints numbers below 1e21 without an exponent, so 1e20 is an
	// integer beyond the limit as well.
	if exact.IsInt() && exact.Num().CmpAbs(maxSafe) > 0 && (!strings.ContainsAny(lit, ".eE") || exact.Num().CmpAbs(printedPlain) < 0) {
		return fmt.Errorf("integer %s is beyond 2^53-1", clip(lit))
	}
	return nil
}

var (
	maxSafe      = big.NewInt(1<<53 - 1)
	printedPlain = new(big.Int).Exp(big.NewInt(10), big.NewInt(21), nil)
)
