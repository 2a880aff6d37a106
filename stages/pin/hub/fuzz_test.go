package hub

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FuzzPattern: a pattern is refused or matches, and one without magic matches
// itself alone.
func FuzzPattern(f *testing.F) {
	f.Add("*.json", "a/b.json")
	f.Add("[!a-c]?[", "dx[")
	f.Add("ü*", "üa")
	f.Fuzz(func(t *testing.T, glob, path string) {
		p, err := pattern(glob)
		if err != nil {
			return
		}
		got := p.MatchString(path)
		if !strings.ContainsAny(glob, "*?[") && got != (glob == path) {
			t.Errorf("%q matches %q: %v", glob, path, got)
		}
	})
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"*.json", "config.json", true},
		{"*.json", "sub/config.json", true},
		{"*.json", "config.json.bak", false},
		{"sub/*", "sub/a/b", true},
		{"sub/*", "other/sub/a", false},
		{"model-0000[12]-of-*.safetensors", "model-00002-of-00003.safetensors", true},
		{"model-0000[!12]-of-*.safetensors", "model-00002-of-00003.safetensors", false},
		{"a.b", "axb", false},
		{"a?b", "aüb", true},
		{"a[b", "a[b", true},
	} {
		p, err := pattern(c.glob)
		if err != nil || p.MatchString(c.path) != c.want {
			t.Errorf("%s on %s: want %v, %v", c.glob, c.path, c.want, err)
		}
	}
}

// FuzzListing: whatever a hub says, a listing that is accepted has names that
// stay below a folder and an identity for every file.
func FuzzListing(f *testing.F) {
	f.Add([]byte(`[{"type":"file","path":"a","oid":"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391","size":0},{"type":"directory","path":"d"}]`), []byte(`{"license":["mit","other"]}`))
	f.Add([]byte(`[{"type":"file","path":"../a","lfs":{"oid":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","size":3}}]`), []byte(`null`))
	f.Fuzz(func(t *testing.T, tree, card []byte) {
		license(jsontext.Value(card))
		var page []node
		if json.Unmarshal(tree, &page) != nil {
			return
		}
		l := &Listing{Repo: "org/model", Revision: strings.Repeat("0", 40)}
		for _, n := range page {
			if l.addNode(n) != nil {
				return
			}
		}
		if l.check() != nil {
			return
		}
		for _, e := range l.Files {
			if strings.Contains(e.Path, "..") && strings.HasPrefix(e.Path, "../") || e.GitBlob == "" && e.SHA256.IsZero() || e.Size < 0 {
				t.Errorf("%+v was accepted", e)
			}
		}
	})
}

func TestLicense(t *testing.T) {
	for card, want := range map[string]string{
		`{"license":"apache-2.0"}`:                    "apache-2.0",
		`{"license":["mit","bsd"]}`:                   "mit, bsd",
		`{"license":"other","license_name":"llama3"}`: "llama3",
		`{"license":"other"}`:                         "other",
		`{"license":null}`:                            "",
		`{"license":7}`:                               "",
		`{}`:                                          "",
		`null`:                                        "",
		``:                                            "",
		`"text"`:                                      "",
	} {
		got, why := license(jsontext.Value(card))
		if (got == nil) != (want == "") || got != nil && *got != want || (got == nil) != (why != "") {
			t.Errorf("%s: %v %q, want %q", card, got, why, want)
		}
	}
}

// TestBadListing: what cannot be right in a listing is said, and what to do.
func TestBadListing(t *testing.T) {
	const blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	for entry, want := range map[string]string{
		`{"type":"file","path":"a","oid":"` + blob + `","size":-2}`:                  `lists "a" with a size of -2 bytes, which no file has`,
		`{"type":"file","path":"a","oid":"` + blob + `","size":4611686018427387904}`: `lists "a" with a size of 4611686018427387904 bytes`,
		`{"type":"file","path":"a","size":2}`:                                        `lists "a" with "" where the id of a git blob belongs`,
		`{"type":"file","path":"a","lfs":{"oid":"zz","size":2}}`:                     `lists "a": `,
		`{"type":"symlink","path":"a","size":2}`:                                     `lists "a" of kind "symlink"`,
	} {
		var n node
		if err := json.Unmarshal([]byte(entry), &n); err != nil {
			t.Fatal(err)
		}
		err := (&Listing{Repo: "org/model"}).addNode(n)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "; "+badListing) {
			t.Errorf("%s:\ngot  %v\nwant %s", entry, err, want)
		}
	}
}
