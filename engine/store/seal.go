package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// A sealed file is one JSON object that carries the digest of its own body:
//
//	{"sha256":"<64 hex>","body":<body>}\n
//
// The digest is over the bytes of <body> as they stand, and the bytes around
// it are fixed, so that a change of any byte of the file shows.
const (
	sealHead = `{"sha256":"`
	sealMid  = `","body":`
	sealTail = "}\n"
	sealBody = len(sealHead) + 64 + len(sealMid) // offset of the body
)

var errNotSealed = errors.New("it is torn or not a sealed file")

// seal encodes v and puts the seal around it.
func seal(v any) ([]byte, error) {
	// Reasons may quote what a server sent; bytes that are no text become U+FFFD.
	body, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, err
	}
	return sealBytes(body), nil
}

func sealBytes(body []byte) []byte {
	b := make([]byte, 0, sealBody+len(body)+len(sealTail))
	b = append(b, sealHead...)
	b = append(b, step.Sum(body).String()...)
	b = append(b, sealMid...)
	b = append(b, body...)
	return append(b, sealTail...)
}

// unseal returns the body of a sealed file whose every byte is as it was
// written.
func unseal(b []byte) ([]byte, error) {
	if len(b) < sealBody+len(sealTail) || !bytes.HasPrefix(b, []byte(sealHead)) || !bytes.HasSuffix(b, []byte(sealTail)) ||
		string(b[sealBody-len(sealMid):sealBody]) != sealMid {
		return nil, errNotSealed
	}
	want, err := step.ParseDigest(string(b[len(sealHead) : len(sealHead)+64]))
	if err != nil {
		return nil, errNotSealed
	}
	body := b[sealBody : len(b)-len(sealTail)]
	if got := step.Sum(body); got != want {
		return nil, fmt.Errorf("its body hashes to %s, its seal says %s", got.Short(), want.Short())
	}
	return body, nil
}

// openSealed decodes a sealed file into v. It refuses a body of another format
// before looking at anything else in it; members it does not know are
// additions of a later version and are ignored.
func openSealed(b []byte, v any) error {
	body, err := unseal(b)
	if err != nil {
		return err
	}
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return fmt.Errorf("its body is not JSON: %w", err)
	}
	if head.Format != Format {
		return fmt.Errorf("it has format %d, this cupel knows format %d", head.Format, Format)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("its body does not fit: %w", err)
	}
	return nil
}

// readSealed reads the sealed file at path: ErrMissing or *Damaged otherwise.
func readSealed(path string, v any) error {
	b, err := readSmall(path)
	if err != nil {
		return err
	}
	if err := openSealed(b, v); err != nil {
		return &Damaged{Path: path, Why: err.Error()}
	}
	return nil
}
