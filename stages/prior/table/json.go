package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// record is one JSON object as columns: nested objects become dotted names.
type record struct {
	line  int
	names []string
	cells map[string]string
	wrong string // why it cannot be a row
}

// JSON reads a list of objects, or an object that holds one such list, alone or
// under rows, results, benchmarks or data. Names that stand twice in an object,
// invalid UTF-8 and deep nesting refuse the file.
func JSON(src []byte) ([]Table, []Problem, error) {
	d := newDecoder(src)
	records, err := d.document()
	if err != nil {
		return nil, nil, d.located(err)
	}
	if _, err := d.dec.ReadToken(); err != io.EOF {
		return nil, nil, d.located(errors.New("something follows the JSON value"))
	}
	if records == nil {
		return nil, nil, errors.New("there is no list of objects in it")
	}
	return tableOf(records)
}

// JSONL reads one object a line.
func JSONL(src []byte) ([]Table, []Problem, error) {
	var records []record
	var problems []Problem
	for n, line := range bytes.Split(src, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		d := newDecoder(line)
		r, err := d.object("", 1)
		if err == nil {
			if _, end := d.dec.ReadToken(); end != io.EOF {
				err = errors.New("something follows the object")
			}
		}
		if err != nil {
			problems = append(problems, Problem{n + 1, plain(err)})
			continue
		}
		r.line = n + 1
		if records = append(records, r); len(records) > maxRows {
			return nil, nil, fmt.Errorf("more than %d rows", maxRows)
		}
	}
	if len(records) == 0 && len(problems) == 0 {
		return nil, nil, errors.New("it is empty")
	}
	t, more, err := tableOf(records)
	return t, append(problems, more...), err
}

// tableOf gives all records one header, in order of appearance.
func tableOf(records []record) ([]Table, []Problem, error) {
	var t Table
	var problems []Problem
	at := map[string]int{}
	for _, r := range records {
		if r.wrong != "" {
			problems = append(problems, Problem{r.line, r.wrong})
			continue
		}
		for _, n := range r.names {
			if _, seen := at[n]; !seen {
				at[n] = len(t.Header)
				t.Header = append(t.Header, n)
			}
		}
		cells := make([]string, len(t.Header))
		for n, c := range r.cells {
			cells[at[n]] = c
		}
		if t.Line == 0 {
			t.Line = r.line
		}
		if len(t.Header) > maxColumns {
			return nil, problems, fmt.Errorf("line %d: more than %d columns", r.line, maxColumns)
		}
		t.Rows = append(t.Rows, Line{r.line, cells})
	}
	for i := range t.Rows {
		for len(t.Rows[i].Cells) < len(t.Header) {
			t.Rows[i].Cells = append(t.Rows[i].Cells, "")
		}
	}
	if len(t.Rows) == 0 && len(t.Header) == 0 {
		return nil, problems, nil
	}
	return []Table{t}, problems, nil
}

// decoder reads tokens and knows where they stand.
type decoder struct {
	dec  *jsontext.Decoder
	src  []byte
	line int   // at offset seen
	seen int64 // bytes whose lines are counted
}

func newDecoder(src []byte) *decoder {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	return &decoder{dec: jsontext.NewDecoder(bytes.NewReader(src)), src: src, line: 1}
}

// here is the line of the last token.
func (d *decoder) here() int {
	to := min(d.dec.InputOffset(), int64(len(d.src)))
	if to > d.seen {
		d.line += bytes.Count(d.src[d.seen:to], []byte("\n"))
		d.seen = to
	}
	return d.line
}

func (d *decoder) located(err error) error { return fmt.Errorf("line %d: %s", d.here(), plain(err)) }

// plain drops the package name from jsontext's messages, and keeps which name it
// is that stands twice.
func plain(err error) string {
	s, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case ok && errors.Is(s.Err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("the name %q stands twice in one object, so one of its values would be lost; remove one", s.JSONPointer.LastToken())
	case ok:
		return s.Err.Error()
	}
	return err.Error()
}

var errDeep = fmt.Errorf("nested deeper than %d", MaxDepth)

// preferred are the names under which people put the rows.
var preferred = []string{"rows", "results", "benchmarks", "data", "entries"}

// document returns the records of the outermost list of objects.
func (d *decoder) document() ([]record, error) {
	switch d.dec.PeekKind() {
	case '[':
		return d.list(1)
	case '{':
		return d.envelope()
	}
	return nil, d.skip(1)
}

// envelope looks for the one list of objects among the members of an object.
func (d *decoder) envelope() ([]record, error) {
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, err
	}
	lists := map[string][]record{}
	for d.dec.PeekKind() == '"' {
		name, err := d.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		if d.dec.PeekKind() != '[' {
			if err := d.skip(2); err != nil {
				return nil, err
			}
			continue
		}
		if lists[key], err = d.list(2); err != nil {
			return nil, err
		}
		if len(lists[key]) == 0 {
			delete(lists, key)
		}
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, err
	}
	return choose(lists)
}

func choose(lists map[string][]record) ([]record, error) {
	for _, name := range preferred {
		if l, ok := lists[name]; ok {
			return l, nil
		}
	}
	var names []string
	for name := range lists {
		names = append(names, name)
	}
	switch slices.Sort(names); len(names) {
	case 0:
		return nil, nil
	case 1:
		return lists[names[0]], nil
	}
	return nil, fmt.Errorf("there are several lists (%s), and none is called rows, results, benchmarks, data or entries", fmt.Sprint(names))
}

// list reads a list; what is no object in it is a record that cannot be a row. A
// list without a single object is no list of records.
func (d *decoder) list(depth int) (out []record, err error) {
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, err
	}
	objects := 0
	for d.dec.PeekKind() != ']' {
		if d.dec.PeekKind() == '{' {
			r, err := d.object("", depth+1)
			if err != nil {
				return nil, err
			}
			objects++
			if out = append(out, r); len(out) > maxRows {
				return nil, fmt.Errorf("more than %d rows", maxRows)
			}
			continue
		}
		if err := d.skip(depth + 1); err != nil {
			return nil, err
		}
		if out = append(out, record{line: d.here(), wrong: "it is no object"}); len(out) > maxRows {
			return nil, fmt.Errorf("more than %d values in one list", maxRows)
		}
	}
	_, err = d.dec.ReadToken()
	if objects == 0 {
		return nil, err
	}
	return out, err
}

// object reads an object as a record; its nested objects are its columns too.
func (d *decoder) object(prefix string, depth int) (record, error) {
	if depth > MaxDepth {
		return record{}, errDeep
	}
	if k := d.dec.PeekKind(); k != '{' && k != 0 {
		return record{}, errors.New("it is no object")
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return record{}, err
	}
	r := record{line: d.here(), cells: map[string]string{}}
	for d.dec.PeekKind() == '"' {
		name, err := d.dec.ReadToken()
		if err != nil {
			return r, err
		}
		if err := d.member(&r, prefix+name.String(), depth); err != nil {
			return r, err
		}
	}
	_, err := d.dec.ReadToken()
	return r, err
}

func (d *decoder) member(r *record, name string, depth int) error {
	switch d.dec.PeekKind() {
	case '{':
		in, err := d.object(name+".", depth+1)
		if err != nil {
			return err
		}
		for _, n := range in.names {
			r.put(n, in.cells[n])
		}
		r.refuse(in.wrong)
		return nil
	case '[':
		r.refuse(name + " is a list, and a cell is one value")
		return d.skip(depth + 1)
	}
	tok, err := d.dec.ReadToken()
	if err != nil {
		return err
	}
	if tok.Kind() == 'n' {
		r.put(name, "")
		return nil
	}
	r.put(name, tok.String())
	return nil
}

// put refuses a dotted name that two spellings make.
func (r *record) put(name, cell string) {
	if _, twice := r.cells[name]; twice {
		r.refuse(name + " stands twice")
		return
	}
	r.names = append(r.names, name)
	r.cells[name] = cell
}

func (r *record) refuse(why string) {
	if r.wrong == "" {
		r.wrong = why
	}
}

// skip reads over one value, which may nest as deep as any other.
func (d *decoder) skip(depth int) error {
	for open := 0; ; {
		tok, err := d.dec.ReadToken()
		if err != nil {
			return err
		}
		switch tok.Kind() {
		case '{', '[':
			if open++; depth+open > MaxDepth+1 {
				return errDeep
			}
		case '}', ']':
			open--
		}
		if open <= 0 {
			return nil
		}
	}
}
