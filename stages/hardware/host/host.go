// Package host reads the processors, the memory and the system of the machine
// that it runs on, for a hardware report. On Linux it reads files below a root, so
// that tests bring their own.
package host

import (
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
)

// maxFile bounds what is read of one file: /proc/cpuinfo of 1024 processors is
// about 2 MiB.
const maxFile = 16 << 20

// Host is a file system that holds /proc, /sys and /etc of a machine.
type Host struct{ FS fs.FS }

// Here is the machine that the program runs on.
func Here() Host { return Host{os.DirFS("/")} }

// At is a machine whose root is a folder.
func At(root string) Host { return Host{os.DirFS(root)} }

// Describe fills in what is not a GPU.
func (h Host) Describe(r *hardware.Report) {
	r.OS.Name, r.OS.Arch = runtime.GOOS, runtime.GOARCH
	if r.Unknown == nil {
		r.Unknown = hardware.Unknown{}
	}
	h.describe(r)
	r.Settle()
}

// Read returns the content of a file of the machine, cut at maxFile.
func (h Host) Read(name string) (string, error) {
	f, err := h.FS.Open(path.Clean(strings.TrimPrefix(name, "/")))
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	return string(b), err
}

// Line returns the content of a file of one line, "" when there is none.
func (h Host) Line(name string) string {
	s, err := h.Read(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(s)
}

// Number reads a file that holds one.
func (h Host) Number(name string) (int64, bool) {
	n, err := strconv.ParseInt(h.Line(name), 10, 64)
	return n, err == nil
}

// Glob lists files of the machine by a pattern of path.Match, with a leading /.
func (h Host) Glob(pattern string) []string {
	names, err := fs.Glob(h.FS, strings.TrimPrefix(pattern, "/"))
	if err != nil {
		return nil
	}
	for i := range names {
		names[i] = "/" + names[i]
	}
	return names
}
