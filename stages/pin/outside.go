package pin

import (
	"fmt"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Outside turns a failure that says nothing about the candidate into an error:
// step.ErrOutside always, and step.ErrUnreachable as well when nobody answered.
// It keeps the endpoint's own words.
func Outside(f *llm.Failure) error {
	words := f.Message
	if words == "" {
		words = "no words"
	}
	err := step.Mark(step.ErrOutside, fmt.Errorf("%s: %s", f.Class, words))
	if f.Class == llm.ClassUnreachable {
		err = step.Mark(step.ErrUnreachable, err)
	}
	return err
}
