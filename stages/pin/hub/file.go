package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

// partName is where a file grows. It names the content that is expected, so
// that a part is never continued as something else, and the path, so that no
// two files share it.
func partName(f inventory.Entry) string {
	id := f.GitBlob
	if f.InLFS() {
		id = f.SHA256.String()
	}
	at := sha256.Sum256([]byte(f.Path))
	return filepath.Join(inventory.PullDir, hex.EncodeToString(at[:8])+"-"+id)
}

const etagSuffix = ".etag"

// file gets one file, and fills in its SHA-256.
func (p *puller) file(ctx context.Context, f *inventory.Entry) error {
	there, err := p.there(ctx, f)
	if err != nil || there {
		return err
	}
	part, err := p.openPart(ctx, *f)
	if err != nil {
		return err
	}
	p.event(Event{Path: f.Path, State: "running", Done: part.size(), Total: f.Size, Note: continued(part.size())})
	err = p.complete(ctx, part, f)
	if err = errors.Join(err, diskfile.Cause(part.f.Close())); err != nil {
		return err
	}
	if err := p.reveal(*f); err != nil {
		return diskError(fmt.Errorf("%s: %w", f.Path, diskfile.Cause(err)))
	}
	p.event(Event{Path: f.Path, State: "done", Done: f.Size, Total: f.Size})
	return nil
}

func continued(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("continued after %d bytes", n)
}

// there reports whether the file is there and right. Something else under its
// name is somebody's, and is left alone.
func (p *puller) there(ctx context.Context, f *inventory.Entry) (bool, error) {
	if found, err := p.found(*f); err != nil || !found {
		return false, err
	}
	p.event(Event{Path: f.Path, State: "running", Total: f.Size, Note: "is there; reading it"})
	got, blob, err := inventory.HashFile(ctx, p.o.To, f.Path)
	if err != nil {
		return false, err
	}
	if wrong := mismatch(*f, got.SHA256, blob); wrong != "" {
		return false, p.conflict(f.Path, "is there with other content ("+wrong+")")
	}
	f.SHA256 = got.SHA256
	p.event(Event{Path: f.Path, State: "there", Done: f.Size, Total: f.Size})
	return true, nil
}

// found reports whether there is a file of that name and size. Anything else
// under its name, or a link on the way to it, is an error.
func (p *puller) found(f inventory.Entry) (bool, error) {
	if err := p.plainParents(f.Path); err != nil {
		return false, err
	}
	st, err := p.root.Lstat(filepath.FromSlash(f.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", f.Path, diskfile.Cause(err))
	case !st.Mode().IsRegular():
		return false, p.conflict(f.Path, "is there and is no file")
	case st.Size() != f.Size:
		return false, p.conflict(f.Path, fmt.Sprintf("is there with %d bytes, the hub lists %d", st.Size(), f.Size))
	}
	return true, nil
}

// plainParents refuses links on the way to a file: they may lead anywhere.
func (p *puller) plainParents(file string) error {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		st, err := p.root.Lstat(filepath.FromSlash(dir))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", dir, diskfile.Cause(err))
		}
		if !st.IsDir() {
			return p.conflict(dir, "is there and is no folder (a link is not followed)")
		}
	}
	return nil
}

func (p *puller) conflict(name, what string) error {
	return step.Mark(ErrConflict, step.WithHint(fmt.Errorf("%s %s", filepath.Join(p.o.To, filepath.FromSlash(name)), what), "move it away, or pull into a folder of its own"))
}

// mismatch holds content against what the hub lists, "" when it agrees.
func mismatch(f inventory.Entry, digest step.Digest, blob string) string {
	switch {
	case f.InLFS() && digest != f.SHA256:
		return fmt.Sprintf("SHA-256 %s, the hub lists %s", digest.Short(), f.SHA256.Short())
	case !f.InLFS() && blob != f.GitBlob:
		return fmt.Sprintf("git blob %s, the hub lists %s", blob[:12], f.GitBlob[:12])
	}
	return ""
}

// reveal gives a complete file its name, durably.
func (p *puller) reveal(f inventory.Entry) error {
	if err := p.plainParents(f.Path); err != nil {
		return err
	}
	name := filepath.FromSlash(f.Path)
	if err := p.root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	if _, err := p.root.Lstat(name); err == nil {
		return p.conflict(f.Path, "appeared meanwhile")
	}
	if err := p.root.Rename(partName(f), name); err != nil {
		return err
	}
	_ = p.root.Remove(partName(f) + etagSuffix)
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		if err := inventory.SyncDir(filepath.Join(p.o.To, dir)); err != nil || dir == "." {
			return err
		}
	}
}
