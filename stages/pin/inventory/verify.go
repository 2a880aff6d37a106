package inventory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cupel-dev/cupel/engine/diskfile"
)

// Finding is one way in which a folder is not what its inventory says.
type Finding struct {
	Path string `json:"path"`
	What string `json:"what"` // missing | changed | extra | unreadable
	Why  string `json:"why"`
}

// Verify reads every file of a folder and holds it against an inventory. look
// is told of each file before it is read. The findings are by path; an error
// means that the folder could not be looked at.
func Verify(ctx context.Context, dir string, v *Inventory, look func(Entry)) (found []Finding, err error) {
	listed := map[string]bool{}
	for _, want := range v.Files {
		listed[want.Path] = true
		look(want)
		f, err := verifyFile(ctx, dir, want)
		if err != nil {
			return nil, err
		}
		if f != nil {
			found = append(found, *f)
		}
	}
	there, err := Walk(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range there {
		if !listed[p] {
			found = append(found, Finding{p, "extra", "the inventory does not list it"})
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		if a.Path < b.Path {
			return -1
		}
		if a.Path > b.Path {
			return 1
		}
		return 0
	})
	return found, nil
}

// verifyFile returns nil for a file that is what it should be.
func verifyFile(ctx context.Context, dir string, want Entry) (*Finding, error) {
	st, err := os.Stat(filepath.Join(dir, filepath.FromSlash(want.Path)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Finding{want.Path, "missing", "there is no such file"}, nil
	case err == nil && st.Mode().IsRegular() && st.Size() != want.Size:
		return &Finding{want.Path, "changed", fmt.Sprintf("%d bytes, the inventory says %d", st.Size(), want.Size)}, nil
	}
	got, _, err := HashFile(ctx, dir, want.Path)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return &Finding{want.Path, "unreadable", diskfile.Cause(err).Error()}, nil
	case got.SHA256 != want.SHA256:
		return &Finding{want.Path, "changed", fmt.Sprintf("SHA-256 %s, the inventory says %s", got.SHA256.Short(), want.SHA256.Short())}, nil
	}
	return nil, nil
}
