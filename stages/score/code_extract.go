package score

import (
	"slices"
	"strings"
)

// fence is a fenced block of an answer.
type fence struct{ tag, code string }

// fences finds the blocks between lines of three or more backticks or tildes.
// A block ends at a line of the same mark that is at least as long; one that
// nothing ends, in an answer that the token limit cut, goes to the end.
func fences(text string) []fence {
	var out []fence
	var open string
	var code []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimLeft(line, " ")
		mark := fenceMark(trimmed)
		switch {
		case open == "" && mark != "":
			open, code = mark, nil
			tag, _, _ := strings.Cut(strings.TrimSpace(trimmed[len(mark):]), " ")
			out = append(out, fence{tag: strings.ToLower(tag)})
		case open != "" && strings.HasPrefix(mark, open) && strings.TrimSpace(trimmed[len(mark):]) == "":
			out[len(out)-1].code = strings.Join(code, "\n")
			open = ""
		case open != "":
			code = append(code, line)
		}
	}
	if open != "" {
		out[len(out)-1].code = strings.Join(code, "\n")
	}
	return out
}

// fenceMark is the run of three or more marks that a line begins with.
func fenceMark(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	n := 1
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if n < 3 || line[0] == '`' && strings.Contains(line[n:], "`") {
		return "" // inline code that fills a line
	}
	return line[:n]
}

// tags are the names that fences give to a language.
var tags = map[string][]string{
	"python": {"python", "py", "python3", "python2", "py3"},
	"node":   {"javascript", "js", "node", "mjs", "cjs", "ecmascript"},
	"sh":     {"sh", "bash", "shell", "dash", "zsh"},
}

// extract returns the code of an answer. Blocks that are tagged as another
// language are left out, such as the shell line that installs a library; an
// answer without a fence is code as a whole.
func extract(text, language, which string) string {
	blocks := fences(text)
	if which == "none" || len(blocks) == 0 {
		return text
	}
	var kept []string
	for _, b := range blocks {
		if b.tag == "" || b.tag == strings.ToLower(language) || slices.Contains(tags[language], b.tag) {
			kept = append(kept, b.code)
		}
	}
	switch {
	case len(kept) == 0:
		return ""
	case which == "first":
		return kept[0]
	case which == "last":
		return kept[len(kept)-1]
	}
	return strings.Join(kept, "\n")
}
