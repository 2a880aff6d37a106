// Package pipelines holds campaign files to copy from. Those on the tiny suite
// run as they are.
package pipelines

import (
	"embed"
	"path"
	"slices"
	"strings"
)

// FS holds the files, <name>.yaml.
//
//go:embed *.yaml
var FS embed.FS

const extension = ".yaml"

// Names lists the pipelines in alphabetical order.
func Names() []string {
	entries, err := FS.ReadDir(".")
	if err != nil {
		return nil // an embedded folder can be read
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(path.Base(e.Name()), extension))
	}
	slices.Sort(out) // the files' order has a "-" before the end of a name
	return out
}

// Read returns a pipeline's text; the error wraps fs.ErrNotExist for a name
// that is not in Names.
func Read(name string) ([]byte, error) { return FS.ReadFile(name + extension) }
