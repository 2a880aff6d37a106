package diskfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	five := filepath.Join(dir, "five")
	if err := os.WriteFile(five, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(five, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q %v", b, err)
	}
	for _, c := range []struct {
		name  string
		limit int64
		want  string
	}{
		{five, 4, five + ": 5 bytes, allowed 4"},
		{dir, 9, dir + " is no regular file"},
		{os.DevNull, 9, os.DevNull + " is no regular file"},
	} {
		if _, err := Read(c.name, c.limit); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	none := filepath.Join(dir, "none")
	if _, err := Read(none, 9); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), none) != 1 {
		t.Errorf("%v", err)
	}
}

func TestCause(t *testing.T) {
	dir := t.TempDir()
	_, open := os.Open(filepath.Join(dir, "none"))
	link := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b"))
	for _, err := range []error{open, link} {
		if got := Cause(err); strings.Contains(got.Error(), dir) || !errors.Is(got, fs.ErrNotExist) {
			t.Errorf("%v", got)
		}
	}
	if plain := errors.New("x"); Cause(plain) != plain {
		t.Error("another error is changed")
	}
}
