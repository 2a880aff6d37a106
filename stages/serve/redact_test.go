package serve

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRedact(t *testing.T) {
	h := &Hooks{Secrets: SecretsIn([]string{"MY_TOKEN=correct-horse", "PATH=/usr/bin", "TOKEN=x", "PLAIN=battery-staple"}, "PLAIN")}
	if !slices.Equal(h.Secrets, []string{"correct-horse", "battery-staple"}) {
		t.Fatalf("%q", h.Secrets)
	}
	for in, want := range map[string]string{
		"with correct-horse and battery-staple":   "with [redacted] and [redacted]",
		"Authorization: Bearer abcdef123":         "Authorization: Bearer [redacted]",
		"sk-abcdefgh12345678 hf_ABCDEFGHIJ":       "[redacted] [redacted]",
		"vllm serve --api-key s3cr3t --port 8000": "vllm serve --api-key [redacted] --port 8000",
		`{"api_key": "s3cr3tvalue", "x": 1}`:      `{"api_key": "[redacted]", "x": 1}`,
		"pull https://user:pass@host/x":           "pull https://[redacted] host/x",
		"max_tokens=1024, 7 tokens: 12 of 30":     "max_tokens=1024, 7 tokens: 12 of 30",
		"api_key='abcdefgh'":                      "api_key='[redacted]'",
	} {
		if got := h.redact(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	if got := Words([]string{"sh", "-c", "it's $HOME", "", "a=b:c"}); got != `sh -c 'it'\''s $HOME' '' a=b:c` {
		t.Error(got)
	}
}

func TestLogName(t *testing.T) {
	for in, want := range map[string]string{"fp8": "serve-fp8.log", "a.b/c": "serve-a_b_c.log", "é": "serve-_.log"} {
		if got := logName(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// Whatever a server prints, what is shown of it is few short printable lines.
func FuzzLastLines(f *testing.F) {
	f.Add("a\r\n\x1b[31mb\x1b[0m\nprogress 1%\rprogress 2%\r\n\xff\n\n")
	f.Add(strings.Repeat("x", 1000))
	f.Fuzz(func(t *testing.T, text string) {
		lines := lastLines((&Hooks{}).redact(text), tailLines)
		if len(lines) > tailLines {
			t.Fatal(len(lines))
		}
		for _, l := range lines {
			if l == "" || len(l) > lineBytes+len("…") || !utf8.ValidString(l) || strings.ContainsAny(l, "\n\r\x1b\x00") {
				t.Fatalf("%q", l)
			}
		}
	})
}
