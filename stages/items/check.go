package items

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/cupel-dev/cupel/engine/step"
)

// Limits of one item.
const (
	MaxLine = 8 << 20 // bytes of a line
	maxID   = 512     // bytes of an id
)

// check says what is wrong with an item on its own; whether a scorer has what
// it needs is known only to the scorer.
func (it *Item) check() error {
	for _, check := range []func() error{it.checkID, it.checkInput, it.checkScorer, it.checkReference, it.checkLabels} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (it *Item) checkID() error {
	switch {
	case it.ID == "":
		return step.WithHint(errors.New("the item has no id"), "give it one that stays the same in every version of the set")
	case len(it.ID) > maxID:
		return fmt.Errorf("the id has %d bytes, at most %d are allowed", len(it.ID), maxID)
	case strings.ContainsFunc(it.ID, unicode.IsControl):
		return fmt.Errorf("the id %q holds a control character", it.ID)
	}
	return nil
}

func (it *Item) checkInput() error {
	if len(it.Input) == 0 {
		return step.WithHint(errors.New(`"input" is missing or empty`), "write a string or a list of messages")
	}
	for i, m := range it.Input {
		if err := m.check(); err != nil {
			return fmt.Errorf("input message %d: %w", i+1, err)
		}
		if m.Role == "system" && it.System != "" {
			return fmt.Errorf(`input message %d is a system message and "system" is given too`, i+1)
		}
	}
	if last := it.Input[len(it.Input)-1].Role; last == "system" {
		return errors.New("the last input message is a system message: nothing is asked")
	}
	if it.Tools == nil {
		return nil
	}
	return checkKind("tools", it.Tools, '[')
}

func (m *Message) check() error {
	if !slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role) {
		return fmt.Errorf("role %q is not one of system, user, assistant, tool", m.Role)
	}
	if strings.TrimSpace(m.Content) == "" && m.ToolCalls == nil && m.Role != "tool" && len(m.Media) == 0 {
		return errors.New("the content is empty")
	}
	return m.checkMedia()
}

func (it *Item) checkScorer() error {
	if len(it.Scorer) == 0 {
		return step.WithHint(errors.New("the item has no scorer"), `name one, such as "scorer": "exact"`)
	}
	for i, s := range it.Scorer {
		if s.Name == "" {
			return fmt.Errorf("scorer %d has no name", i+1)
		}
	}
	return nil
}

// JudgeScorer is the name of the scorer that needs no reference: its judge
// brings a rubric.
const JudgeScorer = "judge"

// Referenced reports whether the item holds what an answer is scored against.
func (it *Item) Referenced() bool {
	return it.Answer != nil || it.Facts != nil || it.Schema != nil || it.ExpectTool != nil || it.Tests != nil || it.Rubric != "" ||
		slices.ContainsFunc(it.Scorer, func(s ScorerRef) bool { return s.Name == JudgeScorer })
}

func (it *Item) checkReference() error {
	if !it.Referenced() {
		return step.WithHint(errors.New("the item has nothing to score an answer against"),
			`give it "answer", "facts", "schema", "expect_tool", "tests" or "rubric"`)
	}
	if it.Schema != nil {
		if err := checkKind("schema", it.Schema, '{', 't', 'f'); err != nil {
			return err
		}
	}
	if it.Tests != nil {
		if err := checkKind("tests", it.Tests, '"', '{', '['); err != nil {
			return err
		}
	}
	for i, c := range it.ExpectTool {
		if c.Name == "" {
			return fmt.Errorf("expect_tool: call %d has no name", i+1)
		}
		if c.Arguments == nil {
			continue
		}
		if err := checkKind("expect_tool: arguments of "+c.Name, c.Arguments, '{'); err != nil {
			return err
		}
	}
	return it.checkTol()
}

func (it *Item) checkTol() error {
	if it.Tol == nil {
		return nil
	}
	if err := checkKind("tol", it.Tol, '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'); err != nil {
		return step.WithHint(err, "a tolerance is a number that is not negative")
	}
	return nil
}

func (it *Item) checkLabels() error {
	for label, value := range it.Strata {
		if label == "" || value == "" {
			return step.WithHint(fmt.Errorf("strata: label %q has the value %q", label, value), "leave out what is not known")
		}
	}
	if it.Source != "" && !slices.Contains([]string{"log", "expert", "public"}, it.Source) {
		return fmt.Errorf("source %q is not one of log, expert, public", it.Source)
	}
	if w := it.Weight; w != nil && !(*w > 0 && *w <= math.MaxFloat64) {
		return fmt.Errorf("weight %v is not a finite number above 0", *w)
	}
	return nil
}

// checkKind compares the first byte of a value with those that are allowed.
func checkKind(name string, v json.RawMessage, first ...byte) error {
	if isNull(v) || len(v) == 0 || !slices.Contains(first, v[0]) {
		return fmt.Errorf("%s: %s is not allowed here", name, clip(string(v)))
	}
	return nil
}

func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
