package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cupel-dev/cupel/engine/step"
)

func TestOpenSuite(t *testing.T) {
	dir := t.TempDir()
	items := "{\"id\":\"a\"}\n\n{\"id\":\"b\"}"
	write(t, dir, "ok/items.jsonl", items)
	write(t, dir, "ok/suite.json", `{"name":"s","version":"2","items":"items.jsonl","sha256":"`+step.Sum([]byte(items)).String()+`","count":2,"more":{}}`)
	s, err := openSuite(dir, "ok")
	if err != nil || s.Name != "s" || s.Version != "2" || s.Count != 2 || s.Items.Digest != step.Sum([]byte(items)) || s.Items.Size != int64(len(items)) {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := openSuite(dir, "ok/items.jsonl"); err != nil || s.Name != "items" || s.Count != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	write(t, dir, "blank.jsonl", "\n \n")
	write(t, dir, "long.jsonl", "{}\n"+strings.Repeat("x", maxItemBytes+1))
	os.Mkdir(filepath.Join(dir, "none"), 0o777)
	for name, manifest := range map[string]string{
		"digest": `{"name":"s","items":"../ok/items.jsonl"}`, "changed": `{"name":"s","items":"items.jsonl","sha256":"` + strings.Repeat("0", 64) + `"}`,
		"count": `{"name":"s","items":"items.jsonl","count":3}`, "unnamed": `{"items":"items.jsonl"}`, "twice": `{"name":"s","name":"t","items":"items.jsonl"}`,
		"gone": `{"name":"s","items":"gone.jsonl"}`, "syntax": `{`, "folder": `{"name":"s","items":"."}`,
	} {
		write(t, dir, name+"/items.jsonl", items)
		write(t, dir, name+"/suite.json", manifest)
	}
	for name, want := range map[string]string{
		"digest": "items is a file inside the folder", "changed": "suite.json says 000000000000", "count": "holds 2 items", "unnamed": "name and items are required",
		"twice": "already on line 1", "gone": "no such file", "syntax": "JSON", "folder": "is not a regular file", "blank.jsonl": "holds no item",
		"long.jsonl": "line 2 is longer than", "none": "suite.json: no such file", "absent": "no such file", "ok/suite.json": "neither a folder nor a .jsonl file",
	} {
		if _, err := openSuite(dir, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// Lines are counted the same whatever pieces they come in.
func TestLineCounter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`([ab \n]{0,5}\n?){0,8}`).Draw(rt, "text")
		want := 0
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) != "" {
				want++
			}
		}
		c := &lineCounter{}
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "n")
			if _, err := c.Write(rest[:n]); err != nil {
				rt.Fatal(err)
			}
			rest = rest[n:]
		}
		if c.total() != want {
			rt.Fatalf("%q: %d items, want %d", text, c.total(), want)
		}
	})
}

func TestSecretIn(t *testing.T) {
	for s, secret := range map[string]bool{
		"sk-abcdef0123456789": true, "Authorization: Bearer eyJhbGci0iJIUzI1": true, "hf_abcdefghijklmnopqrst": true, "--api-key=hunter22": true,
		"https://user:pass@127.0.0.1/": true, "https://token@127.0.0.1/": true, "http://127.0.0.1/?api_key=abcdef123": true, "AKIAABCDEFGHIJKLMNOP": true,
		"-----BEGIN OPENSSH PRIVATE KEY-----": true, "Basic dXNlcjpwYXNzd29yZDE=": true,
		"": false, "vllm/vllm-openai@sha256:abc": false, "task-list-of-things": false, "a bearer of certificates": false, "--api-key=$KEY": false, "--api-key ${KEY}": false,
		"sk-learn-pipelines": false, "http://127.0.0.1:8000/v1": false, "me@example.org": false, "--max-num-seqs=64": false, "basic understanding": false,
	} {
		if got := secretIn(s); (got != "") != secret {
			t.Errorf("%q: %q", s, got)
		}
	}
}
