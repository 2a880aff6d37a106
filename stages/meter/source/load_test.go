package source

import (
	"encoding/binary"
	"testing"

	"github.com/cupel-dev/cupel/stages/trace"
)

func TestLoad(t *testing.T) {
	root := plant(t, map[string]string{"proc/loadavg": "2.07 0.58 0.59 1/467 12345\n"})
	s, missing := Load(root)
	if s == nil {
		t.Fatal(missing)
	}
	defer s.Close()
	if got := look(s)[0]; got != (one{V: 2070}) {
		t.Error(got)
	}
	if c := s.Describe().Channels[0]; c.Quantity != trace.Load1 || c.Unit != "milli" || c.Domain != trace.System {
		t.Errorf("%+v", c)
	}
	for text, code := range map[string]string{"": "implausible", "0.5": "implausible", "-1 0 0": "implausible", "much 0 0": "implausible"} {
		set(t, root, "proc/loadavg", text)
		if got := look(s)[0]; got != (one{E: code}) {
			t.Errorf("%q: %v", text, got)
		}
	}
	if s, missing := Load(t.TempDir()); s != nil || missing[0].Reason != "not-readable" {
		t.Error(s, missing)
	}
}

// The load average as macOS hands it out.
func TestLoadavg(t *testing.T) {
	b := make([]byte, 24)
	binary.NativeEndian.PutUint32(b, 4240) // 2.07 x 2048
	binary.NativeEndian.PutUint64(b[16:], 2048)
	if n, code := loadavg(b); n != 2070 || code != "" {
		t.Error(n, code)
	}
	if _, code := loadavg(b[:20]); code != "not-readable" {
		t.Error(code)
	}
	if _, code := loadavg(make([]byte, 24)); code != "implausible" {
		t.Error(code)
	}
}
