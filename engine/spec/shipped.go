package spec

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/suites"
)

// openShipped resolves a suite that ships inside the program. Its content is in
// the spec like that of any other, so that the campaign means the same with a
// copy of it, and something else once a version of cupel ships other items.
func openShipped(name string) (Suite, error) {
	inside := strings.TrimPrefix(name, suites.Prefix)
	if !slices.Contains(suites.Names(), inside) {
		return Suite{}, step.WithHint(fmt.Errorf("no suite %q ships with cupel; there are %s", clip(inside), strings.Join(suites.Names(), ", ")),
			"`cupel suite list` shows them; a folder of that name is written ./"+clip(name))
	}
	s, err := openSuiteFolder("", name)
	s.Dir = "" // it is in no folder
	return s, err
}

// OpenFile opens a file that a campaign names, where Path says that it is: on
// disk, or inside the program.
func OpenFile(path string) (io.ReadCloser, error) {
	if suites.Shipped(path) {
		return suites.Open(path)
	}
	return os.Open(path)
}
