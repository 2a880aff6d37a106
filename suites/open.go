package suites

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Prefix begins the name of a suite that ships inside the program, as a
// campaign writes it: cupel:functional-gate.
const Prefix = "cupel:"

// Shipped reports whether a path of a campaign lies inside the program. A
// folder on disk whose name begins alike is written ./cupel:name.
func Shipped(name string) bool { return strings.HasPrefix(name, Prefix) }

// Open opens a file of a shipped suite: cupel:functional-gate/items.jsonl. The
// error wraps fs.ErrNotExist for what does not ship.
func Open(name string) (fs.File, error) {
	inside, ok := strings.CutPrefix(path.Clean(strings.ReplaceAll(name, `\`, "/")), Prefix)
	if !ok {
		return nil, fmt.Errorf("%s is not inside the program: %w", name, fs.ErrNotExist)
	}
	f, err := FS.Open(inside)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return f, err
}

// Names lists the shipped suites in alphabetical order.
func Names() []string {
	entries, err := FS.ReadDir(".")
	if err != nil {
		return nil // an embedded folder can be read
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// Sub is the folder of one suite.
func Sub(name string) (fs.FS, error) { return fs.Sub(FS, name) }
