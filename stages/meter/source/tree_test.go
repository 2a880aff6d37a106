package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cupel-dev/cupel/stages/trace"
)

// plant writes files below a temporary root; a value that begins with -> is a link.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		set(t, root, name, content)
	}
	return root
}

func set(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if to, link := cutLink(content); link {
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func cutLink(s string) (string, bool) {
	if len(s) > 2 && s[:2] == "->" {
		return s[2:], true
	}
	return "", false
}

// one is a reading: what Put was handed.
type one struct {
	V int64
	E string
}

func look(s Source) map[int]one {
	out := map[int]one{}
	s.Read(func(c int, v int64, code string) { out[c] = one{v, code} })
	return out
}

// named maps "device domain quantity" to the channel's position.
func named(s Source) map[string]int {
	out := map[string]int{}
	for i, c := range s.Describe().Channels {
		out[c.Device+" "+string(c.Domain)+" "+string(c.Quantity)] = i
	}
	return out
}

// reasons maps "device domain" to the reason code.
func reasons(missing []trace.Missing) map[string]string {
	out := map[string]string{}
	for _, m := range missing {
		out[m.Device+" "+string(m.Domain)] = m.Reason
	}
	return out
}
