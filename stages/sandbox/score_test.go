package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/score"
)

// scoreText scores a text as a campaign does that names the scorer.
func scoreText(t testing.TB, s *Sandbox, name string, params map[string]any, tests any, text string) score.Score {
	t.Helper()
	return scorer(t, s, name, params, tests)(text)
}

func scorer(t testing.TB, s *Sandbox, name string, params map[string]any, tests any) func(string) score.Score {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"id": "i", "input": "q", "scorer": name, "tests": tests})
	if err != nil {
		t.Fatal(err)
	}
	c, err := score.NewCompiler(map[string]map[string]any{name: params})
	if err != nil {
		t.Fatal(err)
	}
	c.Use(t.Context(), s)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	var f *score.Compiled
	if err := items.Read(strings.NewReader(string(raw)), func(it items.Item) error { f, err = c.Compile(&it); return err }); err != nil {
		t.Fatal(err)
	}
	return func(text string) score.Score { return f.Score(score.Output{Text: text}) }
}

// needNative skips where no native program can be run.
func needNative(t testing.TB, language string) *Sandbox {
	t.Helper()
	s := New(Options{})
	have := s.Runtimes()
	if why := have["sandbox"]; why != "" {
		t.Skipf("NOT TESTED: %s", why)
	}
	if strings.HasPrefix(have[language], "none") {
		t.Skipf("NOT TESTED: %s: %s", language, have[language])
	}
	return s
}

func TestCodeScorer(t *testing.T) {
	const square = "assert square(3) == 9\nassert square(-2) == 4"
	cases := []map[string]string{{"stdin": "2 3\n", "stdout": "5"}, {"stdin": "-1 1\n", "stdout": "0"}}
	for name, tc := range map[string]struct {
		language string
		tests    any
		text     string
		value    float64
		reason   string
	}{
		"right":             {"python", square, "Here it is:\n```python\ndef square(x):\n    return x * x\n```\nDone.", 1, "passed"},
		"wrong":             {"python", square, "def square(x): return x + 1", 0, "exit status 1: AssertionError"},
		"syntax":            {"python", square, "def square(x) return x", 0, "SyntaxError"},
		"future import":     {"python", square, "from __future__ import annotations\ndef square(x): return x*x", 1, "passed"},
		"dataclass":         {"python", square, "from dataclasses import dataclass\n@dataclass\nclass P:\n  x: int\ndef square(x): return P(x).x ** 2", 1, "passed"},
		"main guard":        {"python", square, "def square(x): return x*x\nif __name__ == '__main__': print(square(int(input())))", 1, "passed"},
		"leaves early":      {"python", square, "import sys\nsys.exit(0)", 0, "ended before its tests did"},
		"leaves early, os":  {"python", square, "import os\nos._exit(0)", 0, "ended before its tests did"},
		"prints a lot":      {"python", square, "print('x' * 100)\ndef square(x): return x*x", 1, "passed"},
		"silences stdout":   {"python", square, "import sys\nsys.stdout = None\ndef square(x): return x*x", 1, "passed"},
		"loops":             {"python", square, "while True: pass", 0, "timeout: the CPU time ran out"},
		"network":           {"python", square, "import urllib.request\nurllib.request.urlopen('http://192.0.2.1/')", 0, "net-denied: "},
		"network, caught":   {"python", square, "import socket\ntry:\n  socket.create_connection(('192.0.2.1', 80))\nexcept OSError: pass\ndef square(x): return x*x", 1, "passed"},
		"file":              {"python", square, "open('/usr/x', 'w')", 0, "file-denied: "},
		"cases":             {"python", cases, "a, b = map(int, input().split())\nprint(a + b)", 1, "2 of 2 cases"},
		"cases, wrong":      {"python", cases, "a, b = map(int, input().split())\nprint(a * b)", 0, `case 1: printed "6", want "5"`},
		"node":              {"node", "const assert=require('assert'); assert.equal(square(3), 9)", "```js\nfunction square(x) { return x * x }\n```", 1, "passed"},
		"node, wrong":       {"node", "const assert=require('assert'); assert.equal(square(3), 9)", "const square = x => x + 1", 0, "AssertionError"},
		"node, later":       {"node", "(async () => { await null; throw new Error('later') })()", "const square = 1", 0, "Error: later"},
		"node, leaves":      {"node", "require('assert')(false)", "process.exit(0)", 0, "ended before its tests did"},
		"sh":                {"sh", "[ \"$(double 4)\" = 8 ] || exit 1", "```sh\ndouble() { echo $(($1 * 2)); }\n```", 1, "passed"},
		"sh, leaves":        {"sh", "exit 1", "exit 0", 0, "ended before its tests did"},
		"sh, several tests": {"sh", cases, "read a b; echo $((a + b))", 1, "2 of 2 cases"},
	} {
		t.Run(name, func(t *testing.T) {
			s := needNative(t, tc.language)
			got := scoreText(t, s, "code", map[string]any{"language": tc.language, "cpu": 2, "wall": 60}, tc.tests, tc.text)
			if !got.Scored || got.Value != tc.value || !strings.Contains(got.Reason, tc.reason) {
				t.Errorf("%+v, want %v %q", got, tc.value, tc.reason)
			}
		})
	}
}

// A program that only waits has no value: the clock also counts what others do.
func TestCodeThatWaits(t *testing.T) {
	s := needNative(t, "python")
	got := scoreText(t, s, "code", map[string]any{"cpu": 1, "wall": 2}, "assert True", "import time\ntime.sleep(100)")
	if got.Scored || !strings.HasPrefix(got.Reason, "timeout: ") {
		t.Errorf("%+v", got)
	}
}

// An interpreter that is pinned by its digest runs where no sandbox works.
func TestCodeByModule(t *testing.T) {
	p := tinyModule(t)
	s := New(Options{Backend: None, Dir: filepath.Dir(p.Path)})
	cases := []map[string]string{{"stdout": "hello"}}
	params := map[string]any{"language": "tiny", "module": filepath.Base(p.Path), "sha256": p.SHA256}
	score := scorer(t, s, "code", params, cases)
	for text, want := range map[string]float64{"print hello": 1, "```tiny\nprint hello\n```": 1, "print bye": 0, "fail": 0, "read /etc/passwd": 0} {
		if got := score(text); !got.Scored || got.Value != want {
			t.Errorf("%q: %+v, want %v", text, got, want)
		}
	}
}

func TestExecScorer(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	script := "import sys, json, os\nfor line in sys.stdin:\n  q = json.loads(line)\n  if q['text'] == 'stop': sys.exit('as told')\n" +
		"  v = 1 if os.path.exists('" + secret + "') else 0\n  print(json.dumps({'id': q['id'], 'value': v, 'reason': q['text'] + ' ' + q['input'][0]['content']}), flush=True)\n"
	path := filepath.Join(dir, "score.py")
	for file, content := range map[string]string{secret: "x", path: script} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256([]byte(script))
	params := func(trust bool) map[string]any {
		return map[string]any{"program": path, "sha256": hex.EncodeToString(sum[:]), "language": "python", "trust": trust}
	}
	for _, trust := range []bool{false, true} {
		s := needNative(t, "python")
		want := 0.0
		if trust {
			want = 1 // it sees the files of the user
		}
		ask := scorer(t, s, "exec", params(trust), anyTests)
		for _, text := range []string{"one", "two"} {
			if got := ask(text); !got.Scored || got.Value != want || got.Reason != text+" q" {
				t.Errorf("trust %v: %+v, want %v", trust, got, want)
			}
		}
		if got := ask("stop"); got.Scored || !strings.Contains(got.Reason, "ended without an answer: as told") {
			t.Errorf("trust %v: %+v", trust, got)
		}
		if got := ask("again"); !got.Scored || got.Reason != "again q" {
			t.Errorf("trust %v: %+v", trust, got)
		}
	}
}

// anyTests is an item without tests to speak of.
var anyTests = []map[string]string{{"stdout": "x"}}

func TestExecByModule(t *testing.T) {
	p := tinyModule(t)
	s := New(Options{Backend: None})
	got := scoreText(t, s, "exec", map[string]any{"program": p.Path, "sha256": p.SHA256}, anyTests, "yes")
	if !got.Scored || got.Value != 1 || got.Reason != "said yes" {
		t.Errorf("%+v", got)
	}
}

// Sessions end at their limits too.
func TestExecLimits(t *testing.T) {
	s := needNative(t, "python")
	dir := t.TempDir()
	for name, tc := range map[string]struct{ script, want string }{
		"waits":  {"import time\ntime.sleep(100)", "timeout: no answer within 1s"},
		"floods": {"import sys\nwhile True: sys.stdout.write('flood')", "output-limit: "},
		"hogs":   {"a=[]\nwhile True: a.append(bytearray(1<<20))", "MemoryError"},
		"forks":  {"import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(.01)", "too-many-processes: "},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name+".py")
			if err := os.WriteFile(path, []byte(tc.script), 0o600); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(tc.script))
			wall := 60
			if name == "waits" {
				wall = 1
			}
			got := scoreText(t, s, "exec", map[string]any{"program": path, "sha256": hex.EncodeToString(sum[:]),
				"language": "python", "wall": wall, "memory": 128, "processes": 16}, anyTests, "x")
			if got.Scored || !strings.Contains(got.Reason, tc.want) {
				t.Errorf("%+v, want %q", got, tc.want)
			}
		})
	}
}

func BenchmarkCode(b *testing.B) {
	for _, language := range []string{"python", "sh"} {
		b.Run(language, func(b *testing.B) {
			s := needNative(b, language)
			tests := map[string]string{"python": "assert f()", "sh": "f"}[language]
			text := map[string]string{"python": "def f(): return 1", "sh": "f() { true; }"}[language]
			f := scorer(b, s, "code", map[string]any{"language": language}, tests)
			for b.Loop() {
				if got := f(text); got.Value != 1 {
					b.Fatalf("%+v", got)
				}
			}
		})
	}
}
