package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/stages/pin/hub"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

func (a *app) modelsPullCmd() *cobra.Command {
	var h hubOptions
	var o hub.PullOptions
	var dry bool
	c := &cobra.Command{
		Use:   "pull [OWNER/]REPO",
		Short: "download the files of exactly one commit, every one checked",
		Long: `Download the files of one commit from a Hugging Face hub and write their
inventory, cupel-inventory.json, beside them. --revision is the 40 digits of a
commit; a branch or a tag is refused, because it can stand for other files
tomorrow. Old repositories such as gpt2 are found without their owner.

Every file is checked against the size and the hash that the hub lists (SHA-256
for large files, the git blob id for others) before it gets its name. A pull
that was cut off goes on where it was. A file that is there already is read and
kept when it is right, and never replaced when it is not.

Patterns match the whole path; * also matches slashes. --exclude goes over
--include. The token of --token-env is sent to the hub and to nobody else.

` + exitCodeTable(),
		Example: `  cupel models pull Qwen/Qwen2.5-0.5B-Instruct --revision 7ae557604adf67be50417f59c2c2f167def9a775 --to models/qwen
  cupel models pull org/gated --revision 7ae557604adf67be50417f59c2c2f167def9a775 --to models/gated --include *.safetensors --include *.json --token-env HF_TOKEN`,
		Args: exactArgs("[OWNER/]REPO"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Repo = args[0]
			if dry {
				return a.modelsDryPull(c.Context(), h, o)
			}
			return a.modelsPull(c.Context(), h, o)
		},
	}
	f := c.Flags()
	h.flags(c)
	f.StringVar(&o.Revision, "revision", "", "`commit`, 40 hexadecimal digits")
	f.StringVar(&o.To, "to", "", "`folder` for the files")
	f.StringArrayVar(&o.Selection.Include, "include", nil, "`pattern` of files to take (repeatable; default all)")
	f.StringArrayVar(&o.Selection.Exclude, "exclude", nil, "`pattern` of files to leave out (repeatable)")
	f.BoolVar(&dry, "dry-run", false, "list what would be downloaded; the hub is asked, nothing is written")
	f.IntVar(&o.Jobs, "jobs", 4, "files at a time, 1 to 32")
	return c
}

func (a *app) modelsPull(ctx context.Context, ho hubOptions, o hub.PullOptions) error {
	switch {
	case o.To == "":
		return fail(exitUsage, errors.New("--to is missing; give the folder for the files"))
	case o.Jobs < 1 || o.Jobs > 32:
		return fail(exitUsage, fmt.Errorf("--jobs %d, want 1 to 32", o.Jobs))
	}
	p := a.pullProgress()
	defer p.close()
	h, err := ho.hub(a.fetcher(p.note))
	if err != nil {
		return fail(exitUsage, err)
	}
	o.OnEvent = p.event
	v, err := h.Pull(ctx, o)
	p.close()
	if err != nil {
		return modelsError(ctx, err)
	}
	return a.printInventory(o.To, v)
}

// modelsDryPull prints the files that a pull would get.
func (a *app) modelsDryPull(ctx context.Context, ho hubOptions, o hub.PullOptions) error {
	h, err := ho.hub(a.fetcher(nil))
	if err != nil {
		return fail(exitUsage, err)
	}
	l, files, err := h.Choose(ctx, o.Repo, o.Revision, o.Selection)
	if err != nil {
		return modelsError(ctx, err)
	}
	var total int64
	rows := []listedFile{}
	for _, f := range files {
		total += f.Size
		rows = append(rows, listedFile{f.Path, f.Size})
	}
	if a.json {
		return a.printJSON(map[string]any{"repo": l.Repo, "revision": l.Revision, "files": rows, "bytes": total})
	}
	for _, r := range rows {
		a.printf("%14d  %s\n", r.Size, r.Path)
	}
	a.printf("%d of %d files, %s; nothing was downloaded\n", len(files), len(l.Files), size(total))
	return nil
}

// listedFile is a row of a dry run.
type listedFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"` // bytes
}

// pullProgress shows a pull as a run is shown.
type pullProgress struct {
	mu      sync.Mutex
	once    sync.Once
	console *console
	begun   map[string]time.Time
	shown   map[string]int64 // bytes at the last event
}

func (a *app) pullProgress() *pullProgress {
	plain := *a
	plain.json = false // events are no part of the one document
	plain.quiet = a.quiet || a.json
	return &pullProgress{console: plain.console(), begun: map[string]time.Time{}, shown: map[string]int64{}}
}

// close takes bars off the screen; a second call does nothing.
func (p *pullProgress) close() { p.once.Do(p.console.close) }

const mib = 1 << 20

func (p *pullProgress) event(ev hub.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := exec.Event{Step: ev.Path, State: ev.State, Done: int(ev.Done / mib), Total: int(ev.Total / mib), Note: ev.Note}
	switch ev.State {
	case "running":
		p.begun[ev.Path] = time.Now()
		out.Reason = strings.TrimSpace(size(ev.Total) + "  " + ev.Note)
	case "progress":
		if ev.Done-p.shown[ev.Path] < mib {
			return
		}
		p.shown[ev.Path], out.Note = ev.Done, "MiB"
	case "done":
		out.Note, out.Seconds = size(ev.Total)+", checked", time.Since(p.begun[ev.Path]).Seconds()
	case "there":
		out.State, out.Reason = string(exec.Cached), "there already, "+size(ev.Total)+", checked"
	}
	p.console.event(out)
}

// note tells what is tried again.
func (p *pullProgress) note(s string) { p.event(hub.Event{State: "note", Note: s}) }

// size is a number of bytes for people.
func size(n int64) string {
	if n < 10*mib {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n/mib)
}

func (a *app) printInventory(dir string, v *inventory.Inventory) error {
	if a.json {
		return a.printJSON(v)
	}
	a.printf("%s at %s\n", v.Repo, v.Revision)
	a.printf("  files    %d, %s (%s of the commit)\n", len(v.Files), size(v.Bytes), map[string]string{inventory.CoverAll: "all", inventory.CoverSome: "some", inventory.CoverUnknown: "not known how many"}[v.Coverage])
	a.printf("  license  %s\n", license(v))
	if v.Checked == inventory.Unverified {
		a.printf("  checked  against nothing: that these are the files of the commit is what you say\n")
	}
	a.printf("  digest   %s\n  listed   %s in %s\n", v.Digest, inventory.File, dir)
	a.printf("  pin      model: {repo: %s, revision: %s, sha256: %s}\n", v.Repo, v.Revision, v.Digest)
	return nil
}

func license(v *inventory.Inventory) string {
	if v.License == nil {
		return "unknown: " + v.LicenseReason
	}
	return *v.License
}
