package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxPrinted is how many errors are shown before only a count is.
const maxPrinted = 20

// Error is one mistake in a file: what was found, what is allowed, what to do.
type Error struct {
	File      string
	Line, Col int    // 1-based, Col in characters; 0 when the whole file is meant
	Path      string // field path such as candidates.fp8.model.revision, or ""
	Msg       string
	Hint      string
}

// Error prints file:line:col: path: message; hint.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Col)
	}
	for _, part := range []string{e.Path, e.Msg} {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Errors is everything that is wrong with a file, in the order of the file.
type Errors []*Error

// Error prints one error per line, at most 20 and then a count.
func (es Errors) Error() string {
	var b strings.Builder
	for i, e := range es {
		if i == maxPrinted {
			fmt.Fprintf(&b, "\nand %d more errors", len(es)-maxPrinted)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Error())
	}
	return b.String()
}

// Unwrap gives the single errors to errors.As.
// Sorted returns the errors by position, each once.
func (es Errors) Sorted() Errors { return es.tidy() }

// Unwrap makes each error findable.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// tidy sorts by position and drops repetitions: an inherited mistake is found
// once per heir, at one and the same place.
func (es Errors) tidy() Errors {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Col, b.Col))
	})
	type place struct {
		file, msg string
		line, col int
	}
	seen := map[place]bool{}
	return slices.DeleteFunc(es, func(e *Error) bool {
		p := place{e.File, e.Msg, e.Line, e.Col}
		if e.Line == 0 {
			p.msg += e.Path
		}
		dup := seen[p]
		seen[p] = true
		return dup
	})
}

// err returns es as an error, nil when there is none.
func (es Errors) err() error {
	if len(es) == 0 {
		return nil
	}
	return es.tidy()
}

// add appends an error at a position.
func (es *Errors) add(at pos, p path, msg, hint string) {
	*es = append(*es, &Error{File: at.file, Line: at.line, Col: at.col, Path: p.String(), Msg: msg, Hint: hint})
}
