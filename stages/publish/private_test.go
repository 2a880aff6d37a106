package publish

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/evidence"
)

func TestBlanked(t *testing.T) {
	for in, want := range map[string]string{
		"GET http://10.1.2.3:8000/metrics: 404":   "GET http://[private address]:8000/metrics: 404",
		"at 192.168.0.7 and 172.31.255.1":         "at [private address] and [private address]",
		"http://[fd00:12::7]:8000/v1":             "http://[private address]:8000/v1",
		"node.fleet.ts.net and gpu-3.internal":    "[private host] and [private host]",
		"/home/ann/models/x and /Users/bob/x":     "/home/[user]/models/x and /Users/[user]/x",
		`C:\Users\ann\x`:                          `C:\Users\[user]\x`,
		"http://127.0.0.1:8000/v1 and 8.8.8.8":    "http://127.0.0.1:8000/v1 and 8.8.8.8",
		"172.32.0.1, 100.63.0.1, 110.1.2.3, 12.4": "172.32.0.1, 100.63.0.1, 110.1.2.3, 12.4",
		"a local model, the time 12:30:45":        "a local model, the time 12:30:45",
	} {
		if got := blanked(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if again := blanked(blanked(in)); again != want {
			t.Errorf("%q: twice: %q", in, again)
		}
	}
}

// Every text of a record is blanked, but pins: there four numbers are a version.
func TestBlankRecord(t *testing.T) {
	rec, _ := fixture(t)
	const secret = "asked http://10.9.8.7:8000"
	rec.Question = secret
	rec.Unknown = append(rec.Unknown, evidence.Unknown{Field: "x", Reason: secret})
	c := rec.Candidates["bf16"]
	c.Stopped = secret
	c.Load["steady"].Cells[0].Doubts = []string{secret}
	c.Pin.Fields[6].Observed = "10.9.8.7"
	rec.Candidates["bf16"] = c
	blank(rec)
	text := string(encode(t, rec))
	if n := strings.Count(text, "10.9.8.7"); n != 1 || !strings.Contains(text, `"observed": "10.9.8.7"`) {
		t.Errorf("%d left", n)
	}
	if n := strings.Count(text, "[private address]"); n != 4 {
		t.Errorf("%d blanked, want 4", n)
	}
}

func TestPrivateIn(t *testing.T) {
	own := []*regexp.Regexp{regexp.MustCompile(`ACME-\d+`)}
	for text, want := range map[string]string{
		`"--model http://10.0.0.1/x"`: "a private address",
		`"/home/ann/models"`:          "a home folder",
		`"ticket ACME-17"`:            "what publish.redact forbids",
		`"engine 10.0.0.1"`:           "",
		`"/home/[user]/models"`:       "",
	} {
		if got := privateIn([]byte(text), own); !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q", text, got)
		}
	}
}
