package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/pin/fetch"
	"github.com/cupel-dev/cupel/stages/pin/inventory"
)

// part is an unfinished file and the hash of what it holds.
type part struct {
	f    *os.File
	h    *inventory.Hasher
	want inventory.Entry
	etag string // of the server that sent what is there, "" = not known

	most     int64 // bytes that there ever were, since the first restart
	restarts int
}

// much is how many bytes count as progress: a connection that breaks after every
// few of them ends in an error.
const much = 1 << 20

func (t *part) size() int64 { return t.h.Size() }

// openPart opens what an earlier pull left, and reads it: nothing else says
// what it holds.
func (p *puller) openPart(ctx context.Context, f inventory.Entry) (*part, error) {
	name := partName(f)
	if st, err := p.root.Lstat(name); err == nil && !st.Mode().IsRegular() {
		return nil, p.conflict(filepath.ToSlash(name), "is no file")
	}
	file, err := p.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, diskError(fmt.Errorf("%s cannot be written: %w", f.Path, diskfile.Cause(err)))
	}
	t := &part{f: file, h: inventory.NewHasher(f.Size), want: f}
	if err := t.h.Copy(ctx, file); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: unfinished file: %w", f.Path, diskfile.Cause(err)), file.Close())
	}
	if t.size() > f.Size {
		return t, t.restart()
	}
	t.most = t.size()
	if b, err := p.root.ReadFile(name + etagSuffix); err == nil && strongETag(string(b)) {
		t.etag = string(b)
	}
	return t, nil
}

// further reports whether there is now clearly more than there ever was. Getting
// again what was thrown away is none, or a server that cuts files off and cannot
// go on would be asked without end.
func (t *part) further() bool {
	before := t.most
	t.most = max(t.most, t.size())
	return t.size()-before >= much
}

// stuck says what stands behind an error of a file that began anew and was given
// up all the same.
func (t *part) stuck(err error) error {
	if err == nil || t.restarts == 0 || !fetch.Passing(err) {
		return err
	}
	return step.WithHint(fmt.Errorf("%w; it began anew %d time(s) and got no further", err, t.restarts),
		"something cuts it off, and what follows cannot be asked for: use another network, or another hub as --endpoint")
}

// restart forgets what is there. The first one may have been bad luck, and the
// way to where it was counts as progress once more.
func (t *part) restart() error {
	if t.restarts++; t.restarts == 1 {
		t.most = 0
	}
	t.h, t.etag = inventory.NewHasher(t.want.Size), ""
	if err := t.f.Truncate(0); err != nil {
		return diskfile.Cause(err)
	}
	_, err := t.f.Seek(0, io.SeekStart)
	return err
}

// errDisk marks that writing failed, and not reading.
var errDisk = errors.New("disk")

func (t *part) write(b []byte) error {
	if _, err := t.f.Write(b); err != nil {
		// The file may end in the middle of b: it is read again by the next pull.
		return step.Mark(errDisk, diskError(fmt.Errorf("%s cannot be written: %w", t.want.Path, diskfile.Cause(err))))
	}
	_, _ = t.h.Write(b)
	return nil
}
