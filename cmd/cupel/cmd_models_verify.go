package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/hub"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

type modelsVerifyOptions struct{ campaign, candidate string }

func (a *app) modelsVerifyCmd() *cobra.Command {
	var o modelsVerifyOptions
	c := &cobra.Command{
		Use:   "verify DIR",
		Short: "read every file again and hold it against the inventory",
		Long: `Read every file of a model folder and compare it with cupel-inventory.json:
missing, changed and extra files are listed, and any of them is exit code 1.
Times are never looked at. Nothing is sent.

With --campaign and --candidate the inventory is also held against what that
candidate declares (model.repo, revision, sha256): run it before the engine that
loads these files is started.

` + exitCodeTable(),
		Example: `  cupel models verify models/qwen
  cupel models verify models/qwen --campaign campaign.yaml --candidate bf16 --json`,
		Args: exactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error { return a.modelsVerify(c.Context(), args[0], o) },
	}
	c.Flags().StringVar(&o.campaign, "campaign", "", "campaign `file` whose candidate declares these files")
	c.Flags().StringVar(&o.candidate, "candidate", "", "`name` of the candidate")
	return c
}

// verified is the answer of cupel models verify.
type verified struct {
	Folder   string              `json:"folder"`
	Repo     string              `json:"repo"`
	Revision string              `json:"revision"`
	Checked  string              `json:"checked"` // when the inventory was written: hub | none
	Digest   step.Digest         `json:"digest"`
	Files    int                 `json:"files"`
	Bytes    int64               `json:"bytes"`
	Sound    bool                `json:"sound"`
	Findings []inventory.Finding `json:"findings"`
	Pins     []string            `json:"pins,omitempty"` // of the candidate, that the inventory contradicts
}

func (a *app) modelsVerify(ctx context.Context, dir string, o modelsVerifyOptions) error {
	v, err := inventory.Load(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitUsage, step.WithHint(err, "make one with `cupel models inventory`"))
	}
	if err != nil {
		return modelsError(ctx, err)
	}
	pins, err := o.contradictions(v)
	if err != nil {
		return fail(exitUsage, err)
	}
	unlock, err := hub.Reading(dir)
	if err != nil {
		return modelsError(ctx, err)
	}
	defer unlock()
	found, err := inventory.Verify(ctx, dir, v, func(e inventory.Entry) {
		if a.verbose {
			a.notef("reading %s, %s\n", e.Path, size(e.Size))
		}
	})
	if err != nil {
		return modelsError(ctx, err)
	}
	return a.printVerified(verified{dir, v.Repo, v.Revision, v.Checked, v.Digest, len(v.Files), v.Bytes, len(found)+len(pins) == 0, append([]inventory.Finding{}, found...), pins})
}

func (a *app) printVerified(r verified) error {
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		a.printDifferences(r.Findings)
		for _, p := range r.Pins {
			a.printf("pin        %s\n", p)
		}
		what := fmt.Sprintf("%d difference(s)", len(r.Findings)+len(r.Pins))
		if r.Sound {
			what = "as the inventory says"
			if r.Checked == inventory.Unverified {
				what += ", which nobody checked against the hub"
			}
		}
		a.printf("%s: %d files, %s, digest %s: %s\n", r.Folder, r.Files, size(r.Bytes), r.Digest.Short(), what)
	}
	if r.Sound {
		return nil
	}
	return exit(exitFailed)
}

// contradictions lists what a candidate declares and the inventory is not.
func (o modelsVerifyOptions) contradictions(v *inventory.Inventory) (out []string, err error) {
	if (o.campaign == "") != (o.candidate == "") {
		return nil, errors.New("--campaign and --candidate go together")
	}
	if o.campaign == "" {
		return nil, nil
	}
	loaded, err := spec.Load(o.campaign)
	if err != nil {
		return nil, err
	}
	c, ok := loaded.Campaign.Pinned(o.candidate)
	if !ok {
		return nil, fmt.Errorf("%s: there is no candidate %q", o.campaign, o.candidate)
	}
	m, compared := c.Model, 0
	for _, p := range []struct{ name, declared, listed string }{
		{"model.repo", m.Repo, v.Repo}, {"model.revision", m.Revision, v.Revision}, {"model.sha256", m.SHA256, v.Digest.String()},
	} {
		if p.declared == "" {
			continue
		}
		compared++
		if p.declared != p.listed && !(p.name == "model.sha256" && lists(v, m.SHA256)) {
			out = append(out, fmt.Sprintf("%s: candidate %s declares %s, the inventory is of %s", p.name, o.candidate, p.declared, p.listed))
		}
	}
	if compared == 0 {
		return nil, fmt.Errorf("%s: candidate %s declares neither repo, revision nor sha256 of its model", o.campaign, o.candidate)
	}
	return out, nil
}

// lists reports whether one of the files has that SHA-256: model.sha256 may be
// that of the weights file.
func lists(v *inventory.Inventory, sha256 string) bool {
	for _, f := range v.Files {
		if f.SHA256.String() == sha256 {
			return true
		}
	}
	return false
}
