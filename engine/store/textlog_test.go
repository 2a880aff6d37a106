package store

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// A log of another program keeps its end, in two files, and store check knows
// both.
func TestTextLog(t *testing.T) {
	s := must[*Store](t)(Open(t.TempDir(), Options{Mode: ReadWrite}))
	r := must[*Run](t)(s.NewRun(time.Unix(1, 0)))
	defer r.Close()
	for _, bad := range []string{"", "log", "../x.log", ".x.log", "a/b.log", "a.log.1", "é.log"} {
		if _, err := r.CreateLog(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	for i := range 3 { // each opens it again
		w, err := r.CreateLog("serve-a.log")
		if err != nil {
			t.Fatal(err)
		}
		block := bytes.Repeat([]byte{byte('a' + i)}, halfLog/2)
		for range 2 {
			if n, err := w.Write(block); n != len(block) || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if n, err := w.Write(block); n != len(block) || err != nil {
			t.Error("a log that is closed fails its writer")
		}
	}
	for name, want := range map[string]string{"serve-a.log": "cc", "serve-a.log.1": "bb"} {
		b, err := os.ReadFile(s.path("runs", r.ID(), name))
		if err != nil || len(b) != halfLog || strings.Trim(string(b), want[:1]) != "" {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if !isLogName("serve-a.log.1") || isLogName("log.1") || isLogName("x") {
		t.Error("store check does not know a log by its name")
	}
}
