package inventory

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// Schema is the version of the inventory file.
const Schema = "cupel/inventory/v1"

// How the files of an inventory were checked when it was written.
const (
	CheckedHub = "hub"  // size and hash are those of the hub's listing of the commit
	Unverified = "none" // nobody but the person who wrote it says what these files are
)

// How much of its commit an inventory lists.
const (
	CoverAll     = "all"
	CoverSome    = "some"
	CoverUnknown = "unknown"
)

// Inventory lists the files of one commit, or a selection of them. The same
// files give the same bytes, whenever and from wherever they came.
type Inventory struct {
	Schema   string      `json:"schema"`
	Repo     string      `json:"repo"`
	Revision string      `json:"revision"` // 40 hex
	Checked  string      `json:"checked"`  // hub | none
	Digest   step.Digest `json:"digest"`   // DigestOf(Files)
	Bytes    int64       `json:"bytes"`    // of all files
	Coverage string      `json:"coverage"` // all | some | unknown: how many of the commit's files are listed
	Selected *Selection  `json:"selected"` // the patterns of the pull; null = none
	License  *string     `json:"license"`  // by the model card; null = LicenseReason
	// LicenseReason says why the license is unknown, "" when it is not.
	LicenseReason string  `json:"licenseReason,omitempty"`
	Files         []Entry `json:"files"` // by path, in order of bytes
}

// Selection is how files were chosen from a commit.
type Selection struct {
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// Entry is one file.
type Entry struct {
	Path   string      `json:"path"` // with slashes
	Size   int64       `json:"size"` // bytes
	SHA256 step.Digest `json:"sha256"`
	// GitBlob is the object id that git lists at this path, 40 hex: of the content,
	// or of the pointer when Storage is lfs; "" = not known.
	GitBlob string `json:"gitBlob,omitempty"`
	Storage string `json:"storage,omitempty"` // git | lfs; "" = not known
}

// Where a hub keeps the content of a file.
const (
	Git = "git"
	LFS = "lfs" // git holds a pointer
)

// InLFS reports whether git holds only a pointer to the file.
func (e Entry) InLFS() bool { return e.Storage == LFS }

// manifest is what the digest of a set of files is computed over.
type manifest struct {
	Schema string          `json:"schema"`
	Files  []manifestEntry `json:"files"`
}

type manifestEntry struct {
	Path   string      `json:"path"`
	SHA256 step.Digest `json:"sha256"`
	Size   int64       `json:"size"`
}

var revisionID = regexp.MustCompile(`^[0-9a-f]{40}$`)

// maxExact is the largest size that JSON keeps exactly everywhere.
const maxExact = 1<<53 - 1

const manifestSchema = "cupel/files/v1"

// DigestOf is the SHA-256 of the RFC 8785 form of
//
//	{"files":[{"path":…,"sha256":…,"size":…},…],"schema":"cupel/files/v1"}
//
// with the files in the order of the bytes of their paths: what the files are,
// and nothing about where they came from. It is what model.sha256 of a campaign
// may hold.
func DigestOf(files []Entry) (step.Digest, error) {
	m := manifest{Schema: manifestSchema, Files: []manifestEntry{}}
	for _, f := range sorted(files) {
		m.Files = append(m.Files, manifestEntry{f.Path, f.SHA256, f.Size})
	}
	b, err := json.Marshal(m)
	if err != nil {
		return step.Digest{}, fmt.Errorf("digest of %d files: %w", len(files), err)
	}
	canonical := jsontext.Value(b)
	if err := canonical.Canonicalize(); err != nil {
		return step.Digest{}, fmt.Errorf("digest of %d files: %w", len(files), err)
	}
	return step.Sum(canonical), nil
}

func sorted(files []Entry) []Entry {
	return slices.SortedFunc(slices.Values(files), func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

// Seal sorts the files and fills in what follows from them.
func (v *Inventory) Seal() (err error) {
	v.Schema, v.Files, v.Bytes = Schema, sorted(v.Files), 0
	for _, f := range v.Files {
		v.Bytes += f.Size
	}
	v.Digest, err = DigestOf(v.Files)
	return err
}

// Encode writes a sealed inventory as it stands in its file.
func (v *Inventory) Encode() ([]byte, error) {
	b, err := json.Marshal(v, jsontext.WithIndent("  "), json.Deterministic(true))
	return append(b, '\n'), err
}

// Decode reads an inventory and refuses one that contradicts itself: a changed
// line shows in the digest.
func Decode(b []byte) (*Inventory, error) {
	var v Inventory
	if err := json.Unmarshal(b, &v, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("not readable: %w", err)
	}
	if v.Schema != Schema {
		return nil, fmt.Errorf("schema %q, and this version reads %s", v.Schema, Schema)
	}
	return &v, v.check()
}

func (v *Inventory) check() error {
	want := *v
	if err := want.Seal(); err != nil {
		return err
	}
	var paths []string
	for _, f := range v.Files {
		if err := CheckPath(f.Path); err != nil {
			return err
		}
		if f.Size < 0 || f.Size > maxExact {
			return fmt.Errorf("file %q has a size of %d bytes", f.Path, f.Size)
		}
		paths = append(paths, f.Path)
	}
	switch {
	case !revisionID.MatchString(v.Revision):
		return fmt.Errorf("revision %q is no commit of 40 hexadecimal digits", v.Revision)
	case v.Checked != CheckedHub && v.Checked != Unverified:
		return fmt.Errorf("checked %q, want %s or %s", v.Checked, CheckedHub, Unverified)
	case !slices.Contains([]string{CoverAll, CoverSome, CoverUnknown}, v.Coverage):
		return fmt.Errorf("coverage %q, want all, some or unknown", v.Coverage)
	case len(v.Files) == 0:
		return errors.New("it lists no files")
	case !slices.Equal(v.Files, want.Files):
		return errors.New("its files are not in order")
	case want.Bytes != v.Bytes:
		return fmt.Errorf("it says %d bytes, and its files have %d", v.Bytes, want.Bytes)
	case want.Digest != v.Digest:
		return fmt.Errorf("it says digest %s, and its files have %s", v.Digest.Short(), want.Digest.Short())
	}
	return CheckPaths(paths)
}

// Equal reports whether two inventories are the same bytes.
func (v *Inventory) Equal(w *Inventory) bool {
	a, errA := v.Encode()
	b, errB := w.Encode()
	return errA == nil && errB == nil && bytes.Equal(a, b)
}
