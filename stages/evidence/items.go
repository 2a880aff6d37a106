package evidence

import (
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
)

// ItemsOf is the input of a step that reads the items of a workload. Held-out
// ones are known by their own digest and not by that of the file that holds
// them encrypted: for another recipient they are the same items.
func ItemsOf(q *spec.Quality) step.Input {
	if h := q.Suite.HeldOut; h != nil {
		return step.Input{Blob: h.Content, Path: q.Suite.Items.Path, Sealed: true}
	}
	return step.Input{Blob: q.Suite.Items.Digest, Path: q.Suite.Items.Path}
}
