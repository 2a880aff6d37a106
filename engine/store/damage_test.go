package store

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
)

// A changed bit anywhere is found, or changes nothing that is read.
func TestEveryFlippedBitOfAnObject(t *testing.T) {
	s := writable(t)
	for _, content := range []string{"", "short", strings.Repeat("a longer one, with matches; ", 40), string(randomBytes(300))} {
		d := must[step.Digest](t)(s.PutBytes([]byte(content)))
		path := s.objectPath(d)
		sound := must[[]byte](t)(os.ReadFile(path))
		found := 0
		for i := range 8 * len(sound) {
			b := bytes.Clone(sound)
			b[i/8] ^= 1 << (i % 8)
			overwrite(t, path, b)
			got, err := s.Read(d)
			var damaged *Damaged
			switch {
			case err == nil && string(got) != content:
				t.Fatalf("bit %d: read %q without an error", i, got)
			case err != nil && !errors.As(err, &damaged):
				t.Fatalf("bit %d: %v, want *Damaged", i, err)
			case err != nil && (got != nil || damaged.Digest != d || damaged.Path != path):
				t.Fatalf("bit %d: read %q, %+v", i, got, damaged)
			case err != nil:
				found++
			}
		}
		if found < 7*len(sound) { // a few header bits mean nothing
			t.Errorf("only %d of %d flips of %q were found", found, 8*len(sound), content)
		}
		overwrite(t, path, sound)
	}
}

func TestTruncatedAndExtendedObjects(t *testing.T) {
	s := writable(t)
	content := strings.Repeat("content ", 100)
	d := must[step.Digest](t)(s.PutBytes([]byte(content)))
	path := s.objectPath(d)
	sound := must[[]byte](t)(os.ReadFile(path))
	var damaged *Damaged
	for n := range sound {
		overwrite(t, path, sound[:n])
		if err := s.Verify(d); !errors.As(err, &damaged) {
			t.Errorf("%d of %d bytes: %v", n, len(sound), err)
		}
	}
	for _, tail := range []string{"x", "\x00\x00\x00\x00", string(sound)} {
		overwrite(t, path, append(bytes.Clone(sound), tail...))
		if err := s.Verify(d); !errors.As(err, &damaged) {
			t.Errorf("with tail %q: %v", tail, err)
		}
	}
}

func TestOnlyRegularFilesAreObjects(t *testing.T) {
	s := writable(t)
	k, d := putOne(t, s, 1, "content")
	path := s.objectPath(d)
	elsewhere := s.path("elsewhere")
	check(t, os.Rename(path, elsewhere))
	for name, place := range map[string]func() error{
		"link":      func() error { return os.Symlink(elsewhere, path) },
		"directory": func() error { return os.Mkdir(path, 0o755) },
	} {
		check(t, place())
		var damaged *Damaged
		if err := s.Verify(d); !errors.As(err, &damaged) || s.Has(d) {
			t.Errorf("%s: has %v, %v", name, s.Has(d), err)
		}
		if _, ok, reason := s.Latest(k); ok || !strings.HasPrefix(reason, ObjectMissing) {
			t.Errorf("%s: %v, %q", name, ok, reason)
		}
		check(t, os.Remove(path))
	}
}

func TestQuarantineMovesWhatIsDamagedOnly(t *testing.T) {
	s := writable(t)
	d := must[step.Digest](t)(s.PutBytes([]byte("content")))
	check(t, s.Quarantine(d))
	check(t, s.Verify(d))
	for range 2 { // twice: the second must not hide the first
		overwrite(t, s.objectPath(d), []byte("garbage"))
		check(t, s.Quarantine(d))
		if err := s.Verify(d); !errors.Is(err, ErrMissing) {
			t.Errorf("after quarantine: %v", err)
		}
		must[step.Digest](t)(s.PutBytes([]byte("content")))
	}
	for _, name := range []string{".1", ".2"} {
		if b := must[[]byte](t)(os.ReadFile(s.path("quarantine", d.String()+name))); string(b) != "garbage" {
			t.Errorf("%s holds %q", name, b)
		}
		var note quarantineNote
		check(t, readSealed(s.path("quarantine", d.String()+name+".json"), &note))
		if note.Digest != d || note.Why == "" || !note.Moved.Equal(noon) {
			t.Errorf("note %+v", note)
		}
	}
	wantSound(t, s)
}

// Writing content again repairs it, whatever has taken its place.
func TestCommitReplacesADamagedObject(t *testing.T) {
	content := []byte("some content to be kept")
	d := step.Sum(content)
	for name, breakIt := range map[string]func(path string, sound []byte) error{
		"same size": func(path string, b []byte) error { b[len(b)-1] ^= 1; return os.WriteFile(path, b, 0o444) },
		"truncated": func(path string, b []byte) error { return os.WriteFile(path, b[:3], 0o444) },
		"empty":     func(path string, b []byte) error { return os.WriteFile(path, nil, 0o444) },
		"link":      func(path string, b []byte) error { return os.Symlink("/dev/null", path) },
		"directory": func(path string, b []byte) error { return os.MkdirAll(path+"/x", 0o755) },
	} {
		s := writable(t)
		must[step.Digest](t)(s.PutBytes(content))
		path := s.objectPath(d)
		sound := must[[]byte](t)(os.ReadFile(path))
		check(t, os.Remove(path))
		check(t, breakIt(path, sound))
		must[step.Digest](t)(s.PutBytes(content))
		if got, err := s.Read(d); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: read %q, %v", name, got, err)
		}
		if st := must[Stats](t)(s.Stats()); st.Leftovers != 0 {
			t.Errorf("%s: stats %+v", name, st)
		}
	}
}

// Another compressor's frame of the same content is not damage.
func TestCommitKeepsAnotherFrame(t *testing.T) {
	s := writable(t)
	content := []byte(strings.Repeat("raw ", 10))
	d := must[step.Digest](t)(s.PutBytes(content))
	// Magic, single segment with a size of one byte, one last raw block.
	raw := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 40, 40<<3&0xff | 1, 40 << 3 >> 8, 0}, content...)
	overwrite(t, s.objectPath(d), raw)
	check(t, s.Verify(d))
	must[step.Digest](t)(s.PutBytes(content))
	if b := must[[]byte](t)(os.ReadFile(s.objectPath(d))); !bytes.Equal(b, raw) {
		t.Error("the frame was replaced")
	}
}
