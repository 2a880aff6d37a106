package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/image"
)

// imageRow is what became of one candidate's image.
type imageRow struct {
	Candidate string `json:"candidate"`
	Image     string `json:"image"` // "" = none is declared
	State     string `json:"state"` // there | missing | not-declared
	Why       string `json:"why,omitempty"`
}

// pinImages asks for the image of every candidate and judge. One that could not
// be asked for ends the command: it is neither there nor missing.
func (a *app) pinImages(ctx context.Context, o pinImageOptions) error {
	if o.platform != "" {
		return fail(exitUsage, errors.New("--platform goes with a reference, and not with --campaign"))
	}
	loaded, err := spec.Load(o.campaign)
	if err != nil {
		return fail(exitUsage, err)
	}
	rows, declared, missing := []imageRow{}, 0, 0
	for _, name := range loaded.Campaign.Endpoints() {
		row, err := a.imageRow(ctx, loaded.Campaign, name, o)
		if err != nil {
			return imageError(ctx, fmt.Errorf("candidate %s: %w", name, err))
		}
		rows = append(rows, row)
		switch row.State {
		case "missing":
			missing++
			declared++
		case "there":
			declared++
		}
	}
	if declared == 0 {
		return fail(exitUsage, step.WithHint(fmt.Errorf("%s: no candidate declares engine.image", o.campaign), "`cupel pin image REF` prints what to write"))
	}
	if err := a.printImages(rows); err != nil {
		return err
	}
	if missing > 0 {
		return exit(exitFailed)
	}
	return nil
}

func (a *app) imageRow(ctx context.Context, c *spec.Campaign, name string, o pinImageOptions) (imageRow, error) {
	cand, _ := c.Pinned(name)
	row := imageRow{Candidate: name, Image: cand.Engine.Image, State: "not-declared"}
	if row.Image == "" {
		return row, nil
	}
	_, _, err := a.resolveImage(ctx, row.Image, o)
	switch {
	case errors.Is(err, image.ErrMissing):
		row.State, row.Why = "missing", err.Error()
	case err != nil:
		return row, err
	default:
		row.State = "there"
	}
	return row, nil
}

func (a *app) printImages(rows []imageRow) error {
	if a.json {
		return a.printJSON(rows)
	}
	for _, r := range rows {
		switch r.State {
		case "missing":
			a.printf("%-13s %s: %s\n", r.State, r.Candidate, r.Why)
		case "there":
			a.printf("%-13s %s: %s\n", r.State, r.Candidate, r.Image)
		default:
			a.printf("%-13s %s\n", r.State, r.Candidate)
		}
	}
	return nil
}
