package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"
)

// What counts as a leak: a run of leakGram words is what two texts rarely share
// by chance, and leakShare of an item's runs what is more than a common phrase.
const (
	leakGram  = 5
	leakShare = 0.8
	maxLeak   = 64 << 20 // bytes of a file that is looked through
)

// Texts are what prompts, few-shot examples or a campaign say, prepared for
// looking items up in them.
type Texts struct {
	grams map[uint64]bool
	short map[string]bool // whole texts of fewer words than one run
	count int
}

// NewTexts makes an empty collection.
func NewTexts() *Texts { return &Texts{grams: map[uint64]bool{}, short: map[string]bool{}} }

// AddFile reads a file: YAML, JSON and JSON lines by their string values, so
// that quoting and escapes hide nothing; any other file, and one that does not
// parse, as text.
func (t *Texts) AddFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxLeak+1))
	if err != nil {
		return err
	}
	if len(b) > maxLeak {
		return fmt.Errorf("%s: more than %d MiB", name, maxLeak>>20)
	}
	switch filepath.Ext(name) {
	case ".json", ".jsonl", ".ndjson":
		if t.addJSON(b) {
			return nil
		}
	case ".yaml", ".yml":
		if t.addYAML(b) {
			return nil
		}
	}
	t.addText(string(b))
	return nil
}

// addJSON reads a sequence of JSON values; false when that is not what it is.
func (t *Texts) addJSON(b []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		tok, err := dec.ReadToken()
		switch {
		case err == io.EOF:
			return true
		case err != nil:
			return false
		case tok.Kind() == '"':
			t.Add(tok.String())
		}
	}
}

func (t *Texts) addYAML(b []byte) bool {
	dec := yaml.NewDecoder(bytes.NewReader(b))
	for {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case err == io.EOF:
			return true
		case err != nil:
			return false
		}
		t.addNode(&doc)
	}
}

// promptFields are the fields of a campaign, and of files like it, under which
// stands what is sent.
var promptFields = map[string]bool{
	"systemPrompt": true, "prompt": true, "prompts": true, "template": true, "messages": true, "examples": true, "generate": true, "json": true,
}

// AddCampaign takes the strings of a part of a campaign, as JSON, that stands
// under a name. What stands under the name of a prompt is taken as any text is;
// of everything else only what is long enough to be no chance: an item "Hello"
// is not in the name of its owner.
func (t *Texts) AddCampaign(b []byte, name string) error {
	var doc any
	if err := json.Unmarshal(b, &doc); err != nil {
		return err
	}
	t.addValue(doc, promptFields[name])
	return nil
}

func (t *Texts) addValue(v any, prompt bool) {
	switch v := v.(type) {
	case string:
		if prompt || len(words(v)) >= leakGram {
			t.Add(v)
		}
	case []any:
		for _, e := range v {
			t.addValue(e, prompt)
		}
	case map[string]any:
		for name, e := range v {
			t.addValue(e, prompt || promptFields[name])
		}
	}
}

// addNode takes scalars where they stand; an alias is a text that was seen.
func (t *Texts) addNode(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		t.Add(n.Value)
	}
	for _, c := range n.Content {
		t.addNode(c)
	}
}

// addText takes a text as a whole and line by line: a short item leaks when it
// stands alone on a line.
func (t *Texts) addText(s string) {
	t.Add(s)
	for l := range strings.Lines(s) {
		t.addShort(words(l))
	}
}

// Add takes one text, such as a prompt. A text that is JSON itself, as in a
// file of recorded requests, is taken with its strings.
func (t *Texts) Add(s string) {
	t.count++
	if len(s) > 0 && (s[0] == '{' || s[0] == '[') && utf8.ValidString(s) && t.count < 1<<20 {
		t.addJSON([]byte(s))
	}
	w := words(s)
	t.addShort(w)
	for _, g := range shingles(w, leakGram) {
		t.grams[g] = true
	}
	for l := range strings.Lines(s) {
		t.addShort(words(l))
	}
}

func (t *Texts) addShort(w []string) {
	if len(w) > 0 && len(w) < leakGram {
		t.short[strings.Join(w, " ")] = true
	}
}

// has returns the part of the runs that stand in the texts.
func (t *Texts) has(grams []uint64) float64 {
	if len(grams) == 0 {
		return 0
	}
	found := 0
	for _, g := range grams {
		if t.grams[g] {
			found++
		}
	}
	return float64(found) / float64(len(grams))
}
