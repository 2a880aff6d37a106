package measure

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

func TestSpool(t *testing.T) {
	for _, n := range []int{0, 1, 100, 10000} {
		s, want := newSpool(), bytes.Buffer{}
		s.limit = 1000
		for i := range n {
			line := fmt.Sprintf("line %d", i)
			s.put([]byte(line))
			want.WriteString(line + "\n")
		}
		var got bytes.Buffer
		if err := s.copy(&got); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) || (s.file != nil) != (n > 1000) {
			t.Errorf("%d lines: %v, %d bytes of %d", n, err, got.Len(), want.Len())
		}
		s.close()
	}
}

func TestSpoolOnAFullDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	s := newSpool()
	s.limit = 10
	for range 5 {
		s.put([]byte("0123456789"))
	}
	if err := s.copy(io.Discard); err == nil {
		t.Error("lines were lost silently")
	}
	s.close()
}
