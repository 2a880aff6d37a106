package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// codeTests are an item's "tests": source that runs after the answer in the
// same file, or cases that the answer, a whole program, is run for.
type codeTests struct {
	Before string // source in front of the answer, such as imports or the head of a function
	Source string
	Cases  []codeCase
}

// codeCase feeds a program and says what it must print.
type codeCase struct {
	Stdin  string `json:"stdin"`
	Stdout string `json:"stdout"` // compared without white space at the ends of lines and of the text
}

// testsOf reads the three forms: a text, {"before","source"}, a list of cases.
func testsOf(it *items.Item) (codeTests, error) {
	var t codeTests
	raw := it.Tests
	if raw == nil {
		return t, step.WithHint(errors.New(`the item has no "tests"`), `give source that fails when the answer is wrong: "tests": "assert f(2) == 4"`)
	}
	var err error
	strict := jsonv2.RejectUnknownMembers(true)
	switch raw[0] {
	case '"':
		err = json.Unmarshal(raw, &t.Source)
	case '{':
		var form struct {
			Before string `json:"before"`
			Source string `json:"source"`
		}
		err = jsonv2.Unmarshal(raw, &form, strict)
		t.Before, t.Source = form.Before, form.Source
	case '[':
		var cases []struct {
			Stdin  *string `json:"stdin"`
			Stdout *string `json:"stdout"`
		}
		err = jsonv2.Unmarshal(raw, &cases, strict)
		for i, c := range cases {
			if c.Stdout == nil && err == nil {
				err = fmt.Errorf("case %d has no stdout", i+1)
			}
			if err == nil {
				t.Cases = append(t.Cases, codeCase{Stdin: deref(c.Stdin), Stdout: *c.Stdout})
			}
		}
	}
	if err != nil {
		return t, fmt.Errorf(`"tests": %w`, err)
	}
	return t, t.check()
}

func (t codeTests) check() error {
	if len(t.Cases) == 0 {
		if strings.TrimSpace(t.Source) == "" {
			return errors.New(`"tests" is empty, and every answer would pass`)
		}
		return nil
	}
	for _, c := range t.Cases {
		if tidy(c.Stdout) != "" {
			return nil
		}
	}
	return errors.New(`no case of "tests" wants anything printed, and a program that does nothing would pass`)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// tidy drops white space at the ends of lines and of the text, and nothing
// else: what is printed is part of the answer.
func tidy(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
