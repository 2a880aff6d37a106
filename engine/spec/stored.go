package spec

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cupel-dev/cupel/engine/step"
)

// FromCanonical makes a campaign of its canonical form, as a store keeps it. dir
// is where relative paths of programs start; files that the campaign names are
// known by digest alone, and errors have no positions. An error means that this
// version does not understand all of what was hashed.
func FromCanonical(canonical []byte, dir string) (*Loaded, error) {
	l := &Loaded{Campaign: new(Campaign), Dir: dir}
	if err := json.Unmarshal(canonical, l.Campaign); err != nil {
		return nil, fmt.Errorf("stored campaign: %w", err)
	}
	if err := l.hash(); err != nil {
		return nil, fmt.Errorf("stored campaign: %w", err)
	}
	if !bytes.Equal(l.Canonical, canonical) {
		return nil, step.WithHint(fmt.Errorf("stored campaign %s holds what this version of cupel does not know", step.SpecDigest(canonical).Short()),
			"use a cupel as new as the one that ran it")
	}
	return l, nil
}
