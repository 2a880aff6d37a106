package table

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// Markdown reads the pipe tables of GitHub's Markdown, and the HTML tables that
// stand among them. Comments are passed over; a table in
// fenced code is a problem. A row with more
// cells than its header is a problem: renderers drop what is too much, and that
// would be a number lost.
func Markdown(src []byte) ([]Table, []Problem, error) {
	r := &markdownReader{lines: strings.Split(strings.ToValidUTF8(string(bytes.TrimPrefix(src, []byte("\ufeff"))), "\ufffd"), "\n")}
	for r.at < len(r.lines) {
		r.block()
	}
	return r.tables, r.problems, nil
}

type markdownReader struct {
	lines    []string
	at       int // next line, from 0
	caption  string
	tables   []Table
	problems []Problem
}

var (
	fence     = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")
	heading   = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$`)
	delimiter = regexp.MustCompile(`^ {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t\r]*$`)
	htmlTable = regexp.MustCompile(`(?i)<table[\s>]`)
)

// block reads one line, or what begins with it.
func (r *markdownReader) block() {
	line := r.lines[r.at]
	switch {
	case fence.MatchString(line):
		r.fenced(fence.FindStringSubmatch(line)[1])
	case strings.Contains(line, "<!--") && !strings.Contains(line[strings.Index(line, "<!--"):], "-->"):
		r.past("-->")
	case htmlTable.MatchString(line):
		r.html()
	case r.begins():
		r.pipes()
	default:
		if m := heading.FindStringSubmatch(line); m != nil {
			r.caption = inline(m[1])
		}
		r.at++
	}
}

// fenced skips to the end of a code block, or of the file.
func (r *markdownReader) fenced(mark string) {
	for r.at++; r.at < len(r.lines); r.at++ {
		s := strings.TrimSpace(r.lines[r.at])
		if len(s) >= len(mark) && strings.Trim(s, mark[:1]) == "" {
			r.at++
			return
		}
		if r.begins() {
			r.problems = append(r.problems, Problem{r.at + 1, "a table inside of a code block is not read; import it as a file of its own"})
		}
	}
}

// past skips to the line after the one that holds the text.
func (r *markdownReader) past(text string) {
	for r.at++; r.at < len(r.lines); r.at++ {
		if strings.Contains(r.lines[r.at], text) {
			r.at++
			return
		}
	}
}

// html hands the lines up to </table> to the reader of HTML.
func (r *markdownReader) html() {
	from := r.at
	for r.at++; r.at <= len(r.lines); r.at++ {
		if strings.Contains(strings.ToLower(r.lines[r.at-1]), "</table") {
			break
		}
	}
	r.at = min(r.at, len(r.lines))
	tables, problems, err := HTML([]byte(strings.Join(r.lines[from:r.at], "\n")))
	if err != nil {
		problems = append(problems, Problem{1, err.Error()})
	}
	for _, t := range tables {
		t.Line += from
		for i := range t.Rows {
			t.Rows[i].N += from
		}
		if t.Caption == "" {
			t.Caption = r.caption
		}
		r.tables = append(r.tables, t)
	}
	for _, p := range problems {
		r.problems = append(r.problems, Problem{p.Line + from, p.Reason})
	}
}

// begins reports whether a table begins here: a line with a pipe, and below it as
// many dashes as it has cells.
func (r *markdownReader) begins() bool {
	if r.at+1 >= len(r.lines) || !strings.Contains(r.lines[r.at], "|") || indented(r.lines[r.at]) || !delimiter.MatchString(r.lines[r.at+1]) {
		return false
	}
	return len(cellsOf(r.lines[r.at])) == len(cellsOf(r.lines[r.at+1]))
}

// indented lines are code.
func indented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

func (r *markdownReader) pipes() {
	t := Table{Line: r.at + 1, Caption: r.caption, Header: inlines(cellsOf(r.lines[r.at]))}
	for r.at += 2; r.at < len(r.lines); r.at++ {
		line := r.lines[r.at]
		if strings.TrimSpace(line) == "" || !strings.Contains(line, "|") || heading.MatchString(line) || fence.MatchString(line) {
			break
		}
		cells := inlines(cellsOf(line))
		if len(cells) > len(t.Header) {
			r.problems = append(r.problems, Problem{r.at + 1, fmt.Sprintf("%d cells, and the header has %d", len(cells), len(t.Header))})
			continue
		}
		for len(cells) < len(t.Header) {
			cells = append(cells, "")
		}
		t.Rows = append(t.Rows, Line{r.at + 1, cells})
	}
	r.tables = append(r.tables, t)
}

// cellsOf splits a row at the pipes that are not escaped.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	var out []string
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell.WriteByte('|')
			i++
		case line[i] == '|':
			out = append(out, cell.String())
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	if rest := strings.TrimSpace(cell.String()); rest != "" || !strings.HasSuffix(line, "|") {
		out = append(out, cell.String())
	}
	return out
}

func inlines(cells []string) []string {
	for i, c := range cells {
		cells[i] = inline(c)
	}
	return cells
}

var (
	image   = regexp.MustCompile(`!\[([^\]]*)\]\([^)]*\)`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	marks   = regexp.MustCompile("\\*\\*|__|~~|`")
	super   = regexp.MustCompile(`(?i)<sup>`)
	tag     = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)
	escaped = regexp.MustCompile(`\\([!-/:-@\[-` + "`" + `{-~])`)
	single  = regexp.MustCompile(`(^|[\s(])[*_]([^*_]+)[*_]($|[\s).,])`)
)

// inline takes the markup of a cell away and leaves its text.
func inline(s string) string {
	s = image.ReplaceAllString(s, "$1")
	s = link.ReplaceAllString(s, "$1")
	s = super.ReplaceAllString(s, "^")
	s = tag.ReplaceAllString(s, " ")
	s = marks.ReplaceAllString(s, "")
	s = single.ReplaceAllString(s, "$1$2$3")
	s = escaped.ReplaceAllString(s, "$1")
	return clean(s)
}
