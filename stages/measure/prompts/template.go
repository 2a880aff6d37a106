package prompts

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cupel-dev/cupel/engine/step"
)

// uniqueWithin is the length in bytes within which prompts must part for a
// prefix cache to be of no use; it is about one cache block of 16 tokens.
const uniqueWithin = 64

// part is a piece of a template: what is put in its place, or text.
type part struct {
	name string // canary, index, words, word-list, filler; "" = text
	text string
}

var places = []string{"canary", "index", "words", "word-list", "filler"}

func parseTemplate(t string) (out []part) {
	text := 0
	for i := 0; i < len(t); {
		name := placeAt(t[i:])
		if name == "" {
			i++
			continue
		}
		if text < i {
			out = append(out, part{text: t[text:i]})
		}
		out = append(out, part{name: name})
		i += len(name) + 2
		text = i
	}
	if text < len(t) {
		out = append(out, part{text: t[text:]})
	}
	return out
}

func placeAt(t string) string {
	for _, name := range places {
		if strings.HasPrefix(t, "{"+name+"}") {
			return name
		}
	}
	return ""
}

func hasFiller(t string) bool { return strings.Contains(t, "{filler}") }

// template returns the parts of the cell's template, or of the default one,
// which puts the long part first, so that a shared prompt is a shared prefix,
// and what is asked for last.
func (c *Cell) template() ([]part, error) {
	t := c.Prompt.Template
	switch {
	case t == "":
		t = c.defaultTemplate()
	case c.Prompt.Canary && !strings.Contains(t, "{canary}"):
		return nil, step.WithHint(errors.New("the prompt asks for a canary, and its template has none"), "put {canary} into prompt.template, or drop prompt.canary")
	case c.Output.Words > 0 && !strings.Contains(t, "{word-list}"):
		return nil, step.WithHint(errors.New("the output is to have words, and the prompt's template does not list them"), "put {word-list} into prompt.template, or drop output.words")
	}
	return parseTemplate(t), nil
}

func (c *Cell) defaultTemplate() string {
	t := "{filler}\nThis is request {index}. "
	if c.Prompt.Canary {
		t += "Begin your answer with {canary} and one space. "
	}
	if c.Output.Words > 0 {
		return t + "Write these {words} words in this order, separated by single spaces, add nothing, and do not stop before the last one: {word-list}"
	}
	return t + "Say in one line what stands above."
}

// partsEarly reports whether the template itself makes the prompts of a cell
// part within uniqueWithin, and those of two cells part at all: such a one is
// sent as it stands, which a model with a fixed prompt form needs.
func (c *Cell) partsEarly(parts []part) bool {
	at, early, random := 0, false, false
	for _, p := range parts {
		switch p.name {
		case "canary", "index":
			early = early || at <= uniqueWithin
		case "filler":
			at = uniqueWithin + 1
			random = random || c.Prompt.Tokens > 0 || c.Prompt.Lengths != nil || c.Lengths != nil
		case "word-list":
			random = random || c.Output.Words > 0
		}
		at += len(p.text)
	}
	return early && random
}

// values are what is put into a template for one request.
type values struct {
	marker string
	index  int
	words  int
	list   string
}

func (v *values) of(p part) string {
	switch p.name {
	case "canary":
		return v.marker
	case "index":
		return strconv.Itoa(v.index)
	case "words":
		return strconv.Itoa(v.words)
	case "word-list":
		return v.list
	}
	return p.text
}

// measure returns the characters that the parts have without filler, and how
// many of them are filler.
func (v *values) measure(parts []part) (chars, fillers int) {
	for _, p := range parts {
		if p.name == "filler" {
			fillers++
			continue
		}
		chars += utf8.RuneCountInString(v.of(p))
	}
	return chars, fillers
}
