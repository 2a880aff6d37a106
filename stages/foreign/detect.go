package foreign

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// maxHead bounds how much of a file is looked at to tell its format.
const maxHead = maxLine

// Detect tells a file's format by its content.
func Detect(r io.ReaderAt, size int64) (Format, error) {
	var magic [4]byte
	n, err := r.ReadAt(magic[:], 0)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return Format{}, err
	case n == 0:
		return Format{}, errEmpty
	case string(magic[:2]) == "PK":
		return named("inspect"), nil
	}
	dec := jsontext.NewDecoder(newNaNReader(io.NewSectionReader(r, 0, min(size, maxHead))), jsontext.AllowInvalidUTF8(true))
	found, err := topNames(dec)
	if name := formatOf(found); name != "" {
		return named(name), nil
	}
	if err != nil {
		return Format{}, unknownFormat(wording(err))
	}
	return Format{}, unknownFormat(fmt.Errorf("the first row has the fields %s", clip(strings.Join(sortedKeys(found), ", "), 300)))
}

func unknownFormat(err error) error {
	var known []string
	for _, f := range Formats {
		known = append(known, f.Name)
	}
	return step.WithHint(fmt.Errorf("no known format of stored outputs: %w", err),
		`read are `+strings.Join(known, ", ")+`; the simplest is one {"id": …, "output": …} a line`)
}

// names are the members of an object, with what kind of value each has.
type names map[string]jsontext.Kind

// maxNames bounds how many are kept.
const maxNames = 1000

// topNames reads the names of the first JSON object until they tell its
// format: documents are large, and need not be read to their end for that.
func topNames(dec *jsontext.Decoder) (names, error) {
	found := names{}
	tok, err := dec.ReadToken()
	if err != nil {
		return found, err
	}
	if tok.Kind() != '{' {
		return found, errors.New("the file does not begin with a JSON object")
	}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return found, err
		}
		if name := tok.String(); len(found) < maxNames {
			found[name] = dec.PeekKind()
		}
		if f := formatOf(found); f != "" && named(f).walk != nil {
			return found, nil
		}
		if err := dec.SkipValue(); err != nil {
			return found, err
		}
	}
	return found, nil
}

// signatures are tried in order; a name with a kind behind it means a value of
// that kind.
var signatures = []struct {
	format string
	all    []string
}{
	{"openai-batch", []string{"custom_id", "response"}},
	{"lm-eval", []string{"doc_id", "resps"}},
	{"lm-eval", []string{"doc_id", "filtered_resps"}},
	{"promptfoo", []string{"evalId", "results{"}},
	{"promptfoo", []string{"results{", "config{"}},
	{"promptfoo-jsonl", []string{"promptIdx", "testIdx"}},
	{"promptfoo-jsonl", []string{"testCase", "gradingResult"}},
	{"inspect-json", []string{"version", "status", "eval{"}},
	{"guidellm", []string{"benchmarks["}},
	{"cupel", []string{"id", "sample", "repeat", "request", "text"}},
	{"plain", []string{"id", "output"}},
	{"plain", []string{"output"}},
	{"plain", []string{"id", "error"}},
}

func formatOf(found names) string {
	for _, s := range signatures {
		if found.hold(s.all) {
			return s.format
		}
	}
	return ""
}

func (n names) hold(all []string) bool {
	for _, want := range all {
		name := strings.TrimRight(want, "{[")
		kind, ok := n[name]
		if !ok || name != want && string(kind) != want[len(name):] {
			return false
		}
	}
	return true
}
