package spec

import (
	"bytes"
	"fmt"
	"sort"
	"unicode/utf8"
)

// Limits that keep a file from costing more than a file may. They are far
// above anything a person writes.
const (
	maxFileBytes = 1 << 20
	maxDepth     = 64      // nesting of maps and lists
	maxValues    = 100_000 // values after aliases are expanded
	maxTextBytes = 8 << 20 // in all texts after aliases are expanded
)

// checkText reports what is wrong with a file before its syntax is looked at.
func checkText(file string, src []byte) Errors {
	whole := func(msg, hint string) Errors { return Errors{{File: file, Msg: msg, Hint: hint}} }
	switch {
	case len(src) > maxFileBytes:
		return whole(fmt.Sprintf("%d bytes, allowed %d (1 MiB)", len(src), maxFileBytes), "put items into a suite, not into the campaign")
	case bytes.HasPrefix(src, []byte("\xef\xbb\xbf")):
		return Errors{{File: file, Line: 1, Col: 1, Msg: "begins with a byte order mark", Hint: "save it as UTF-8 without BOM"}}
	case len(bytes.TrimSpace(src)) == 0:
		return whole("is empty", "a campaign begins with apiVersion: "+APIVersion)
	}
	if i := firstInvalid(src); i >= 0 {
		at := newLines(file, src).at(i)
		return Errors{{File: file, Line: at.line, Col: at.col, Msg: fmt.Sprintf("byte 0x%02x is not UTF-8", src[i]), Hint: "save it as UTF-8"}}
	}
	return nil
}

func firstInvalid(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// lines turns byte offsets into positions.
type lines struct {
	file   string
	src    []byte
	starts []int
}

func newLines(file string, src []byte) *lines {
	l := &lines{file: file, src: src, starts: []int{0}}
	for i, c := range src {
		if c == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

func (l *lines) at(offset int) pos {
	offset = min(max(offset, 0), len(l.src))
	line := sort.SearchInts(l.starts, offset+1)
	return pos{file: l.file, line: line, col: 1 + utf8.RuneCount(l.src[l.starts[line-1]:offset])}
}
