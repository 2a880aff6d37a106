package spec

import (
	"bytes"
	"os"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
)

func seedTexts(f *testing.F) {
	for _, name := range []string{"testdata/base.yaml", "testdata/campaign/full.yaml"} {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, s := range []string{"", "a: &a [*a]", "<<: {a: 1}", "? [x]\n: y", "{\"a\": [1, 2.5e3, null, \"\\u00e9\"]}", "a: !!str 1\nb: |\n  x\n", "- - - -\n", "\xff", "%YAML 1.1\n---\na: 010"} {
		f.Add([]byte(s))
	}
}

// Whatever the bytes: an answer, positions inside the file, and a campaign only
// with a canonical form that has its digest.
func fuzzLoad(f *testing.F, name string) {
	seedTexts(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		l, err := loadText(name, src)
		if err == nil {
			if l.Digest != step.SpecDigest(l.Canonical) {
				t.Error("digest is not that of the canonical form")
			}
			return
		}
		errs, ok := err.(Errors)
		if !ok {
			t.Fatalf("%T: %v", err, err)
		}
		for _, e := range errs {
			if e.Msg == "" || e.Line > bytes.Count(src, []byte("\n"))+bytes.Count(src, []byte("\r"))+bytes.Count(src, []byte("\u2028"))+bytes.Count(src, []byte("\u2029"))+bytes.Count(src, []byte("\u0085"))+2 {
				t.Errorf("error outside of the file: %v", e)
			}
		}
	})
}

func FuzzLoadYAML(f *testing.F) { fuzzLoad(f, "testdata/fuzz.yaml") }
func FuzzLoadJSON(f *testing.F) { fuzzLoad(f, "testdata/fuzz.json") }

// A tree printed as JSON and read again is the same tree.
func FuzzStrictYAML(f *testing.F) {
	seedTexts(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		root, errs := parseYAML("f.yaml", src)
		if root == nil || len(errs) > 0 {
			return
		}
		text := jsonOf(root, inOrder)
		again, errs := parseJSON("f.json", []byte(text))
		if len(text) > maxFileBytes {
			return
		}
		if len(errs) > 0 || jsonOf(again, inOrder) != text {
			t.Errorf("%v from\n%s", errs, text)
		}
	})
}

func FuzzLoadCUE(f *testing.F) {
	for _, s := range []string{"", "campaign: \"a\"", "import \"cupel.dev/schemas@v0\"\n\nschemas.#Campaign", "a: b\nb: a", "x: [for i in [1, 2] {i}]", "#a: #a", "a: {b: a.b & int}"} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, src []byte) {
		// A program may compute for as long as it likes; that is its author's
		// business. The fuzzer is kept to short ones without the library.
		if len(src) > 200 || bytes.Contains(src, []byte("for")) || bytes.Contains(src, []byte("import")) && !bytes.Contains(src, []byte("schemas@v0\"")) || bytes.Contains(src, []byte("*")) {
			return
		}
		if _, err := Load(write(t, dir, "f.cue", string(src))); err == nil {
			t.Error("200 bytes are a campaign")
		}
	})
}

func FuzzBindFlag(f *testing.F) {
	for _, s := range []string{"a=http://127.0.0.1", "a=ollama+http://127.0.0.1:11434,model=m,gpu=0", "a=embedded:b", "=", "a=http://[::1]:0/,key-env=K"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, b, err := ParseBindFlag(s)
		if err == nil && (checkBaseURL(b.URL) != "" || !bindName.MatchString(name) || secretIn(s) != "") {
			t.Errorf("%q gives %s %+v", s, name, b)
		}
	})
}

func FuzzBindings(f *testing.F) {
	for _, s := range []string{"a: {url: \"http://127.0.0.1\"}", "a: {url: \"embedded:x\", gpus: [0, \"1\"], headers: {X-A: B}}", "[]", "a:", "{"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := parseBindings("f.yaml", src)
		for name, b := range got {
			if err != nil || checkBaseURL(b.URL) != "" || !bindName.MatchString(name) {
				t.Errorf("%s: %+v, %v", name, b, err)
			}
		}
	})
}
