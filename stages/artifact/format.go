package artifact

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/publish"
)

// Format is one shape of a file.
type Format struct {
	Name    string
	Tool    string
	Doc     string
	Kind    Kind
	Schema  string   // how its schema begins, for documentation
	Unknown []string // what no file of this shape tells

	is   func(*file) bool
	read func(*file) []*Record
}

// file is one parsed file.
type file struct {
	doc      node
	schema   string // schema, schema_version or the like, where that is a text
	content  []byte
	more     []byte // JSON lines: what follows the first value
	prompts  bool   // rebuild prompts, to hash them
	notes    []string
	selected []string // of a grader's report, by whoever pinned it
	grader   string
	siblings map[string][]byte // other documents of the same finding, by name
}

// Options say how much is read.
type Options struct {
	// Prompts rebuilds the prompts of generators that are known, to hash them.
	// It takes time, and only a comparison needs it.
	Prompts bool

	// Siblings are documents of the folder that the file stands in: spec.json
	// beside a record.json tells what its workloads ask for.
	Siblings map[string][]byte

	// Selected are the instances that a grader's report is to be about, and
	// Grader the pinned revision that wrote it: a report tells neither. nil and
	// "" = what the report lists, and not known.
	Selected []string
	Grader   string
}

// Document is what one file holds.
type Document struct {
	Format  string    `json:"format"`
	Records []*Record `json:"records"` // at least one
}

// Formats is the table of all shapes, tried in order; documentation is printed
// from it.
var Formats []Format

func init() {
	Formats = slices.Concat(cupelFormats, anvilFormats, foreignFormats, outOfScope)
}

// Read reads one file. An error wraps ErrUnusable: nothing is known of it. What
// is recognised and damaged comes back with Record.Invalid set.
func Read(content []byte, o Options) (*Document, error) {
	doc, err := read(content, o)
	if err != nil {
		return nil, step.Mark(ErrUnusable, err)
	}
	return doc, nil
}

func read(content []byte, o Options) (*Document, error) {
	if len(content) == 0 {
		return nil, errors.New("the file is empty")
	}
	if strings.HasPrefix(string(content[:min(2, len(content))]), "PK") {
		return readInspectArchive(content)
	}
	f := &file{content: content, prompts: o.Prompts, siblings: o.Siblings, selected: o.Selected, grader: o.Grader}
	first, rest := content, []byte(nil)
	value, nans, err := parse(content)
	if err != nil {
		if first, rest = firstLine(content); rest == nil {
			return nil, err
		}
		var again error
		if value, nans, again = parse(first); again != nil {
			return nil, err
		}
	}
	f.doc, f.more = node{v: value}, rest
	if nans > 0 {
		f.notes = append(f.notes, fmt.Sprintf("%d values are NaN or Infinity, which is no JSON, and were read as unknown", nans))
	}
	f.schema = cmp.Or(f.doc.get("schema").str(), f.doc.get("schema_version").str(), f.doc.get("$schema").str())
	for i := range Formats {
		if Formats[i].is(f) {
			return f.finish(&Formats[i])
		}
	}
	return nil, step.WithHint(fmt.Errorf("no known shape of evidence: %s", f.describe()), "docs/evidence.md lists the shapes that are read")
}

// finish reads the file as one shape and completes its records.
func (f *file) finish(format *Format) (*Document, error) {
	out := &Document{Format: format.Name, Records: format.read(f)}
	if len(out.Records) == 0 {
		return nil, fmt.Errorf("a file of %s without any result", format.Name)
	}
	for _, r := range out.Records {
		if format.Name == ownFormat && r.Source.Format != "" {
			r.complete(notRecorded)
			continue // an import: evidence of the file that it came from
		}
		r.Schema = Schema
		r.Source = Source{Format: format.Name, Schema: plain(f.schema), SHA256: step.Sum(f.content), Bytes: int64(len(f.content))}
		r.Kind = cmp.Or(r.Kind, format.Kind)
		if r.Provenance.Tool.Value == nil && format.Tool != "" {
			r.Provenance.Tool = is(format.Tool)
		}
		r.Notes = append(r.Notes, f.notes...)
		for _, u := range format.Unknown {
			r.Notes = append(r.Notes, "this shape does not tell "+u)
		}
		r.complete("a file of " + format.Name + " does not tell")
	}
	return out, nil
}

// firstLine cuts JSON lines after the first that holds something.
func firstLine(content []byte) (first, rest []byte) {
	first, rest, more := bytes.Cut(bytes.TrimLeft(content, " \t\r\n"), []byte("\n"))
	if !more {
		return nil, nil
	}
	return first, rest
}

// describe names what tells a shape: never a value of a text.
func (f *file) describe() string {
	switch {
	case f.schema != "":
		return "its schema is " + plain(f.schema)
	case f.doc.isList():
		return "it is a list"
	case f.doc.isObject():
		return "it has the fields " + clip(plain(strings.Join(f.doc.names(), ", ")))
	}
	return "it is no object"
}

// object begins a record that notes malformed values.
func (f *file) record() (*Record, node) {
	r := new(Record)
	return r, node{f.doc.v, "", &r.Invalid}
}

func (f *file) hasSchema(prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(f.schema, p) })
}

// holds reports whether the document has all of these members.
func (f *file) holds(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !f.doc.get(n).has() })
}

var hex64 = regexp.MustCompile(`^[0-9a-f]{64}$`)

// digest reads a SHA-256 in hex.
func (n node) digest() Text {
	t := n.text()
	if t.Value != nil && !hex64.MatchString(strings.TrimPrefix(*t.Value, "sha256:")) {
		n.invalid("%s must be a SHA-256 in hex", n.at)
		return unknown[string]("malformed")
	}
	return t
}

func credential(s string) bool { return publish.CredentialIn([]byte(s)) != "" }
