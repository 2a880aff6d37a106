package publish

import (
	"strings"
)

// mdEscapes keep a text from being read as Markdown or HTML.
var mdEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"\r", " ", "\n", " ", "~~", `\~~`, "$", `\$`, "](", `\](`, "][", `\][`, "]:", `\]:`,
)

// part is a piece of a sentence: code between backticks, or text.
type part struct {
	Code bool
	Text string
}

// parts splits a sentence that names commands in backticks; one with an
// unpaired backtick is all text.
func parts(s string) []part {
	pieces := strings.Split(s, "`")
	if len(pieces)%2 == 0 {
		return []part{{Text: s}}
	}
	var out []part
	for i, p := range pieces {
		if p != "" {
			out = append(out, part{Code: i%2 == 1, Text: p})
		}
	}
	return out
}

// mdText is a text within a line. Underscores within words mean nothing and
// stay, since names are full of them.
func mdText(s string) string {
	var b strings.Builder
	for _, p := range parts(s) {
		if p.Code {
			b.WriteString(strings.ReplaceAll(mdCode(p.Text), "|", `\|`))
			continue
		}
		words := strings.Split(mdEscapes.Replace(p.Text), " ")
		for i, w := range words {
			if strings.HasPrefix(w, "_") {
				words[i] = `\` + w
			}
		}
		b.WriteString(strings.Join(words, " "))
	}
	return b.String()
}

// mdCell is a text in a table, a dash when there is none.
func mdCell(s string) string {
	if strings.TrimSpace(s) == "" {
		return none
	}
	return mdText(s)
}

// mdCode is a code span that holds any text.
func mdCode(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return none
	}
	run, longest := 0, 0
	for _, r := range s {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// mdCodeCell is a code span in a table: there a bar ends the cell even within
// code.
func mdCodeCell(s string) string { return strings.ReplaceAll(mdCode(s), "|", `\|`) }

// title begins a sentence or a heading with a capital.
func title(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
