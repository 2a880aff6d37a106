//go:build !linux

package record

import "github.com/cupel-dev/cupel/stages/trace"

// quality is not known here.
func quality() trace.Clock { return trace.Clock{} }
