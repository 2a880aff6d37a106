package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

// Event tells how far a file is. Calls come one at a time.
type Event struct {
	Path        string
	State       string // running | progress | done | there | note
	Done, Total int64  // bytes
	Note        string
}

// PullOptions say what to get and where to put it.
type PullOptions struct {
	Repo, Revision string
	Selection      Selection
	To             string // made if it is not there
	Jobs           int    // files at a time; 0 = one
	OnEvent        func(Event)
}

// Pull puts the files of a commit into a folder and writes their inventory.
//
// A file has its name only once its size and hash are right. What an earlier
// pull left unfinished is continued; what is there and right is kept; what is
// there and something else is never touched and is an error that wraps
// ErrConflict. After an error the unfinished files stay for the next try.
func (h *Hub) Pull(ctx context.Context, o PullOptions) (*inventory.Inventory, error) {
	p, err := h.begin(ctx, &o)
	if err != nil {
		return nil, err
	}
	defer p.end()
	if err := p.free(); err != nil {
		return nil, err
	}
	if err := p.room(); err != nil {
		return nil, err
	}
	if err := p.files(ctx); err != nil {
		return nil, err
	}
	v := &inventory.Inventory{
		Repo: o.Repo, Revision: o.Revision, Checked: inventory.CheckedHub, Coverage: coverage(p.chosen, p.listing), Selected: o.Selection.record(),
		License: p.listing.License, LicenseReason: p.listing.LicenseReason, Files: p.chosen,
	}
	if err := v.Seal(); err != nil {
		return nil, err
	}
	if err := v.Save(o.To); err != nil {
		return nil, diskError(err)
	}
	p.sweep()
	return v, nil
}

// Choose asks which files a commit has, and which of them are wanted. Nothing is
// written.
func (h *Hub) Choose(ctx context.Context, repo, revision string, s Selection) (*Listing, []inventory.Entry, error) {
	if err := h.checkNames(ctx, repo, revision); err != nil {
		return nil, nil, err
	}
	l, err := h.List(ctx, repo, revision)
	if err != nil {
		return nil, nil, err
	}
	chosen, err := s.choose(l)
	if err != nil {
		return nil, nil, err
	}
	return l, chosen, inventory.CheckPaths(paths(chosen))
}

// puller is one pull.
type puller struct {
	*Hub
	o       *PullOptions
	listing *Listing
	chosen  []inventory.Entry // SHA256 is filled in as files are done
	root    *os.Root
	unlock  func()
	mu      sync.Mutex // events
}

// begin asks what there is, and looks at what the folder holds, before anything
// is written.
func (h *Hub) begin(ctx context.Context, o *PullOptions) (p *puller, err error) {
	p = &puller{Hub: h, o: o}
	if p.listing, p.chosen, err = h.Choose(ctx, o.Repo, o.Revision, o.Selection); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.To, 0o777); err != nil {
		return nil, diskError(fmt.Errorf("folder %s cannot be made: %w", o.To, diskfile.Cause(err)))
	}
	if p.unlock, err = writing(o.To); err != nil {
		return nil, err
	}
	if err = p.compatible(); err == nil {
		p.root, err = os.OpenRoot(o.To)
	}
	if err != nil {
		p.unlock()
		return nil, err
	}
	return p, nil
}

func (p *puller) end() {
	_ = p.root.Close()
	p.unlock()
}

// compatible refuses a folder that is another commit's, or holds files of this
// one that the selection leaves out: its inventory could not say both.
func (p *puller) compatible() error {
	v, err := inventory.Load(p.o.To)
	if errors.Is(err, fs.ErrNotExist) {
		return p.noteStrangers()
	}
	if err != nil {
		return step.Mark(ErrConflict, err)
	}
	if err := p.sameCommit(v); err != nil {
		return step.Mark(ErrConflict, err)
	}
	wanted := map[string]bool{}
	for _, f := range p.chosen {
		wanted[f.Path] = true
	}
	for _, f := range v.Files {
		if !wanted[f.Path] {
			return step.Mark(ErrConflict, step.WithHint(fmt.Errorf("%s holds %s, which this selection leaves out", p.o.To, f.Path), "pull another selection into a folder of its own"))
		}
	}
	return p.noteStrangers()
}

// sameCommit says that a folder is another repository's, or of another commit.
func (p *puller) sameCommit(v *inventory.Inventory) error {
	switch {
	case v.Repo != p.o.Repo:
		return step.WithHint(fmt.Errorf("%s holds %s at %s, asked for %s", p.o.To, v.Repo, v.Revision, p.o.Repo), "pull another repository into a folder of its own, also where its commit is the same")
	case v.Revision != p.o.Revision:
		return step.WithHint(fmt.Errorf("%s holds %s at %s, asked for %s", p.o.To, v.Repo, v.Revision, p.o.Revision), "pull another commit into a folder of its own")
	}
	return nil
}

// noteStrangers tells of files that are not of this commit.
func (p *puller) noteStrangers() error {
	there, err := inventory.Walk(p.o.To)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, f := range p.chosen {
		known[f.Path] = true
	}
	n, first := 0, ""
	for _, path := range there {
		if !known[path] {
			if n++; n == 1 {
				first = path
			}
		}
	}
	if n > 0 {
		p.event(Event{State: "note", Note: fmt.Sprintf("%s holds %d other file(s), the first is %q; `cupel models verify` will list them as extra", p.o.To, n, first)})
	}
	return nil
}

// free makes sure, before the first byte, that no name is somebody else's as far
// as that shows without reading.
func (p *puller) free() error {
	for _, f := range p.chosen {
		if _, err := p.found(f); err != nil {
			return err
		}
	}
	return nil
}

// room says before the first byte that the disk is too small.
func (p *puller) room() error {
	free, ok := freeBytes(p.o.To)
	if !ok {
		return nil
	}
	var need int64
	for _, f := range p.chosen {
		need += f.Size - min(p.have(f), f.Size)
	}
	if need <= free {
		return nil
	}
	return step.WithHint(fmt.Errorf("%s has room for %d bytes, and %d are missing", p.o.To, free, need), "make room, or leave files out with --exclude; nothing was downloaded")
}

// have is how many bytes of a file are there, finished or not.
func (p *puller) have(f inventory.Entry) int64 {
	for _, name := range []string{filepath.FromSlash(f.Path), partName(f)} {
		if st, err := p.root.Lstat(name); err == nil {
			return st.Size()
		}
	}
	return 0
}

// files gets all files, some at a time. The first error ends the others.
func (p *puller) files(ctx context.Context) error {
	if err := p.root.MkdirAll(inventory.PullDir, 0o777); err != nil {
		return diskError(fmt.Errorf("%s: %w", filepath.Join(p.o.To, inventory.PullDir), diskfile.Cause(err)))
	}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(max(p.o.Jobs, 1))
	for i := range p.chosen {
		if inner.Err() != nil {
			break
		}
		group.Go(func() error { return p.file(inner, &p.chosen[i]) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// sweep removes what is needed no longer; an unfinished file of another
// selection stays.
func (p *puller) sweep() {
	for _, f := range p.chosen {
		_ = p.root.Remove(partName(f))
		_ = p.root.Remove(partName(f) + etagSuffix)
	}
	_ = p.root.Remove(inventory.PullDir) // only when it is empty
}

func (p *puller) event(ev Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.o.OnEvent != nil {
		p.o.OnEvent(ev)
	}
}

func coverage(files []inventory.Entry, l *Listing) string {
	if len(files) == len(l.Files) {
		return inventory.CoverAll
	}
	return inventory.CoverSome
}

func paths(files []inventory.Entry) (out []string) {
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}
