package gen

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/items/suite"
	"github.com/cupel-dev/cupel/suites"
)

// built holds each suite once: some take seconds.
var built = map[string]Suite{}

func build(t *testing.T, name string) Suite {
	t.Helper()
	if s, ok := built[name]; ok {
		return s
	}
	s, err := Build(name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	built[name] = s
	return s
}

// What ships is what its generator makes, byte for byte. After a change that is
// meant, raise the version and run `make suites`.
func TestShipped(t *testing.T) {
	for _, name := range Names() {
		s := build(t, name)
		var got bytes.Buffer
		for i := range s.Items {
			line, err := suite.Encode(&s.Items[i])
			if err != nil {
				t.Fatal(err)
			}
			got.Write(line)
		}
		want, err := suites.FS.ReadFile(path.Join(name, "items.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: the generator makes other items than those that ship", name)
		}
		for file, content := range s.Media {
			if want, err := suites.FS.ReadFile(path.Join(name, file)); err != nil || !bytes.Equal(content, want) {
				t.Errorf("%s: %s is not what the generator makes: %v", name, file, err)
			}
		}
	}
}

// Texts are whole, ids and questions stand there once.
func TestItems(t *testing.T) {
	for _, name := range Names() {
		ids, asked := map[string]bool{}, map[string]string{}
		for _, it := range build(t, name).Items {
			b, err := suite.Encode(&it)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(b), "%!") {
				t.Errorf("%s %s: a value is missing: %s", name, it.ID, b)
			}
			if ids[it.ID] {
				t.Errorf("%s: %s stands there twice", name, it.ID)
			}
			ids[it.ID] = true
			key := suite.Asked(&it)
			if other := asked[key]; other != "" {
				t.Errorf("%s: %s asks what %s asks", name, it.ID, other)
			}
			asked[key] = it.ID
			if err := items.Read(bytes.NewReader(b), func(items.Item) error { return nil }); err != nil {
				t.Errorf("%s %s: %v", name, it.ID, err)
			}
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		tokens []int
		want   string
	}{
		{"nothing", nil, `no generator makes a suite "nothing"`},
		{"planning", []int{1024}, "suite planning has no context lengths to choose"},
		{"needle", []int{10}, "a context of 10 tokens is not between 512 and 1048576"},
		{"needle", []int{1024, 1 << 21}, "a context of 2097152 tokens"},
	} {
		if _, err := Build(c.name, Options{Tokens: c.tokens}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v", c.name, c.tokens, err)
		}
	}
}

// Lengths have their own version, whatever their order; those that ship are the
// shipped version.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		tokens []int
		want   string
	}{
		{nil, "1"}, {[]int{4096, 1024, 2048}, "1"}, {[]int{2048, 1024, 2048}, "1-1024-2048"},
	} {
		s, err := Build("needle", Options{Tokens: c.tokens})
		if err != nil || s.Version != c.want {
			t.Errorf("%v: %s %v", c.tokens, s.Version, err)
		}
	}
	many := make([]int, 40)
	for i := range many {
		many[i] = 512 + i
	}
	if v := versionOf("1", many); suite.CheckName("version", v) != nil {
		t.Errorf("version %s is not a name", v)
	}
}

// An item is as long as its stratum says, and what is asked for stands where its
// labels say.
func TestContexts(t *testing.T) {
	for _, name := range []string{"needle", "long-tools"} {
		s, err := Build(name, Options{Tokens: []int{512, 8192}})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range s.Items {
			want := 512 * BytesPerToken
			if it.Strata["task"] == "tokens-8192" {
				want = 8192 * BytesPerToken
			}
			text := it.Input[0].Content
			if len(text) > want || len(text) < want-150 && !(want == 2048 && it.Strata["kind"] == "chain") {
				t.Errorf("%s %s: %d bytes of %d", name, it.ID, len(text), want)
			}
			var answer string
			if it.Strata["kind"] != "needle" || json.Unmarshal(it.Answer, &answer) != nil {
				continue
			}
			at := 100 * strings.Index(text, answer) / len(text)
			depth := map[string]int{"000": 0, "025": 25, "050": 50, "075": 75, "100": 100}[it.Strata["depth"]]
			if at < depth-10 || at > depth+10 {
				t.Errorf("%s %s: stands at %d %%", name, it.ID, at)
			}
		}
	}
}
