package store

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
)

// What decodes encodes to a file that decodes to the same: nothing that is
// believed is lost on the way.
func FuzzRecord(f *testing.F) {
	k := step.Key{1}
	r := recordOf("score", noon, Output{Name: "out", Digest: step.Digest{2}, Size: 3})
	r.Key = k
	sealed, err := encodeRecord(r, 1)
	if err != nil {
		f.Fatal(err)
	}
	body, err := unseal(sealed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add(body)
	f.Add([]byte(strings.Replace(string(body), `"size":3`, `"size":1e3`, 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		decodeRecord(b, k, 1)
		got, err := decodeRecord(sealBytes(b), k, 1) // past the seal
		if err != nil {
			return
		}
		if got.Key != k || got.N != 1 || got.check() != nil {
			t.Fatalf("believed %+v", got)
		}
		again, err := encodeRecord(got, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeRecord(again, k, 1); err != nil {
			t.Fatal(err)
		}
	})
}

// A seal is opened only if sealing its body gives the very same file.
func FuzzUnseal(f *testing.F) {
	f.Add(sealBytes([]byte(`{"format":1}`)))
	f.Add(sealBytes(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if body, err := unseal(b); err == nil && !bytes.Equal(sealBytes(body), b) {
			t.Fatalf("%q opens to %q", b, body)
		}
	})
}

// Whatever is in a segment, a sound frame that follows a newline is found, and
// the reader ends.
func FuzzJournal(f *testing.F) {
	id := segmentID{key: step.Key{1}, n: 1}
	b, _ := segmentOf(id, someLines)
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Add([]byte("00000000 00000000 \n"))
	f.Add([]byte("00000000 03ffffff \n\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append(b, '\n')
		whole := id.appendFrame(bytes.Clone(b), int64(len(b)), []byte("found"))
		lines, _ := scanLines(t, id, whole)
		if len(lines) == 0 || lines[len(lines)-1] != "found" {
			t.Fatalf("lines %q", lines)
		}
	})
}

func FuzzOwner(f *testing.F) {
	f.Add([]byte(`{"host":"h","pid":7,"since":"2026-03-01T12:00:00Z"}`))
	f.Add([]byte(`{"host":"\u001b[2J","pid":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		o := parseOwner(b)
		if strings.ContainsFunc(o.String(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Fatalf("%q", o.String())
		}
		if o.PID == 0 && o != (Owner{}) {
			t.Fatalf("half an owner: %+v", o)
		}
	})
}
