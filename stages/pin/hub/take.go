package hub

import (
	"context"
	"fmt"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

// Take makes the inventory of a folder that somebody filled otherwise, after
// holding every file against the hub's listing of the commit. With findings
// there is no inventory. look is told of each file before it is read. Nothing
// is written.
func (h *Hub) Take(ctx context.Context, dir, repo, revision string, look func(path string)) (*inventory.Inventory, []inventory.Finding, error) {
	if err := h.checkNames(ctx, repo, revision); err != nil {
		return nil, nil, err
	}
	if err := inventory.CheckFinished(dir); err != nil {
		return nil, nil, err
	}
	there, err := inventory.Files(dir)
	if err != nil {
		return nil, nil, err
	}
	l, err := h.List(ctx, repo, revision)
	if err != nil {
		return nil, nil, err
	}
	listed := map[string]inventory.Entry{}
	for _, f := range l.Files {
		listed[f.Path] = f
	}
	v := &inventory.Inventory{Repo: repo, Revision: revision, Checked: inventory.CheckedHub, License: l.License, LicenseReason: l.LicenseReason}
	var found []inventory.Finding
	for _, path := range there {
		want, ok := listed[path]
		if !ok {
			found = append(found, inventory.Finding{Path: path, What: "extra", Why: "the commit has no such file"})
			continue
		}
		look(path)
		got, blob, err := inventory.HashFile(ctx, dir, path)
		if err != nil {
			return nil, nil, err
		}
		if why := differs(want, got, blob); why != "" {
			found = append(found, inventory.Finding{Path: path, What: "changed", Why: why})
		}
		got.GitBlob, got.Storage = want.GitBlob, want.Storage
		v.Files = append(v.Files, got)
	}
	if len(found) > 0 {
		return nil, found, nil
	}
	v.Coverage = coverage(v.Files, l)
	return v, nil, v.Seal()
}

func differs(want, got inventory.Entry, blob string) string {
	if want.Size != got.Size {
		return fmt.Sprintf("%d bytes, the hub lists %d", got.Size, want.Size)
	}
	return mismatch(want, got.SHA256, blob)
}

// TakeUnchecked makes the inventory of a folder without asking anybody: that
// its files are those of the commit is what the caller says.
func TakeUnchecked(ctx context.Context, dir, repo, revision string, look func(path string)) (*inventory.Inventory, error) {
	if err := CheckRepo(repo); err != nil {
		return nil, err
	}
	if !commitID.MatchString(revision) {
		return nil, step.Mark(ErrUsage, fmt.Errorf("revision %q is not the 40 hexadecimal digits of a commit", revision))
	}
	if err := inventory.CheckFinished(dir); err != nil {
		return nil, err
	}
	files, err := inventory.Read(ctx, dir, look)
	if err != nil {
		return nil, err
	}
	v := &inventory.Inventory{
		Repo: repo, Revision: revision, Checked: inventory.Unverified, Coverage: inventory.CoverUnknown,
		LicenseReason: "the hub was not asked", Files: files,
	}
	return v, v.Seal()
}
