//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"errors"

	"github.com/cupel-dev/cupel/engine/step"
)

type native struct{}

func (native) start(job, string) (*process, error) { return nil, errNoNative }

var errNoNative = step.WithHint(errors.New("native programs are kept apart on Linux (amd64, arm64) only"), "name a WebAssembly interpreter as module")

func findNative(string) (native, error) { return native{}, errNoNative }
