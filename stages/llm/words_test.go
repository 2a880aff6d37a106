package llm

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestRedaction(t *testing.T) {
	r := newRedactor(Options{APIKey: "k<1>&/x", Headers: map[string]string{"Authorization": "Basic dXNlcjpwdw==", "X-Long": "k<1>&/x-and-more", "X-Short": "on"}})
	for in, want := range map[string]string{
		"key k<1>&/x!":                         "key [redacted]!",
		"k<1>&/x-and-more":                     "[redacted]",
		`{"k":"k\u003c1\u003e\u0026/x"}`:       `{"k":"[redacted]"}`,
		"?key=k%3C1%3E%26%2Fx&":                "?key=[redacted]&",
		"path k%3C1%3E&%2Fx":                   "path [redacted]",
		"azwxPiYveA==":                         "[redacted]",
		"Basic dXNlcjpwdw== or dXNlcjpwdw==":   "[redacted] or [redacted]",
		"turn it on":                           "turn it on",
		"bell\a esc\x1b[1m nul\x00 bidi\u202e": `bell\a esc\x1b[1m nul\x00 bidi\u202e`,
		"bad \xff\u2028x":                      `bad \xff\u2028x`,
		" line\nend \n":                        `line\nend`,
	} {
		if got := r.words(in, false); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := r.words("text k<1>&", true); got != "text" {
		t.Errorf("half a key stays at a cut: %q", got)
	}
}

func TestWordsAreBoundedAndPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-z]{4,12}`).Draw(t, "key")
		bits := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.Just(key), rapid.Just("\xff"), rapid.Just(strings.Repeat("é", 700))), 0, 8)
		text := strings.Join(bits.Draw(t, "bits"), "")
		got := newRedactor(Options{APIKey: key}).words(text, rapid.Bool().Draw(t, "cut"))
		if len(got) > maxWords || !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
		if strings.Contains(got, key) && !strings.Contains(redacted, key) {
			t.Fatalf("%q holds the key %q", got, key)
		}
	})
}

func TestNames(t *testing.T) {
	listed := []string{"m", "m:latest", "org/Tiny-Q8", "llama-3.1-8b"}
	for want, at := range map[string]int{"m": 0, "m:latest": 1, "org/Tiny-Q8:latest": 2, "tiny": -1} {
		if got := findName(listed, want); got != at {
			t.Errorf("%s: %d, want %d", want, got, at)
		}
	}
	for want, near := range map[string]string{"lama-3.1-8b": "llama-3.1-8b", "tiny-q8": "org/Tiny-Q8", "gemma-2": ""} {
		if got := nearest(listed, want); got != near {
			t.Errorf("%s: %q, want %q", want, got, near)
		}
	}
	if edits("kitten", "sitting") != 3 || edits("", "abc") != 3 || edits("same", "same") != 0 {
		t.Error("edit distance")
	}
}

func TestWeightsIn(t *testing.T) {
	const hex = "588cbf0ced4e0bf066607ca35ae37d221813ce58721b6278cd68df05afa184b9"
	for modelfile, want := range map[string]string{
		"# FROM x:latest\n\nFROM /m/blobs/sha256-" + hex + "\nTEMPLATE \"\"\"\nFROM other\n\"\"\"": hex,
		`FROM C:\m\blobs\sha256-` + hex:                            hex,
		"FROM /m/tiny.gguf\n":                                      "",
		"FROM /m/sha256-" + hex + "\nFROM /m/sha256-" + hex + "\n": "",
		"TEMPLATE x\nFROM /m/sha256-" + hex + "\n":                 "",
		"": "",
	} {
		if got := weightsIn(modelfile); got != want {
			t.Errorf("%q: %q, want %q", modelfile, got, want)
		}
	}
}

// FuzzIdentity feeds the readers of what an endpoint says of itself.
func FuzzIdentity(f *testing.F) {
	for _, s := range []string{
		`{"data":[{"id":"m","digest":"sha256:00","max_model_len":3,"meta":{"digest":"x"},"aliases":["a"]}]}`,
		`{"build_info":"x","chat_template":"t","default_generation_settings":{"n_ctx":4}}`,
		`{"models":[{"name":"a:latest","digest":"0"}]}`, `{"version":"1"}`,
		`{"modelfile":"FROM x","parameters":"stop   \"a\"\nstop b","template":"t","details":{"quantization_level":"Q4"},"model_info":{"general.architecture":"l","l.context_length":5}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var id Identity
		if show, err := decodeShow(doc); err == nil {
			show.fill(&id)
		}
		p := decodeProps(doc)
		p.fill(&id, "x")
		models, _ := decodeModels(doc)
		for _, m := range models {
			if m.id == "" || m.maxLen < 0 || len(m.digest) != 0 && len(m.digest) != 64 {
				t.Fatalf("%+v", m)
			}
		}
		tags, _ := decodeTags(doc)
		for _, m := range tags {
			if m.name == "" || len(m.digest) != 0 && len(m.digest) != 64 {
				t.Fatalf("%+v", m)
			}
		}
		for _, s := range []string{id.EngineVersion, id.Quantization, decodeVersion(doc)} {
			if len(s) > 512 || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Fatalf("%q", s)
			}
		}
		if id.ContextLength < 0 {
			t.Fatal(id.ContextLength)
		}
	})
}
