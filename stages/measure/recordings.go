package measure

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/trace"
)

// BadRecording is a recording that a campaign names and that cannot be read.
type BadRecording struct {
	Candidate string
	Index     int
	Err       error
}

// CheckRecordings reads the recordings that an energy workload names.
func CheckRecordings(w spec.Workload) (bad []BadRecording) {
	if w.Energy == nil {
		return nil
	}
	for _, cand := range slices.Sorted(maps.Keys(w.Energy.Traces)) {
		for i, t := range w.Energy.Traces[cand] {
			if err := checkRecording(t.File); err != nil {
				bad = append(bad, BadRecording{cand, i, fmt.Errorf("%s: %w", t.File.Name, err)})
			}
		}
	}
	return bad
}

func checkRecording(file *spec.File) error {
	f, err := os.Open(file.Path)
	if err != nil {
		return diskfile.Cause(err)
	}
	defer f.Close()
	to := trace.Follow(io.Discard)
	if _, err := io.Copy(to, f); err != nil {
		return diskfile.Cause(err)
	}
	switch t := to.Trace(); {
	case t == nil:
		return errors.New("it has no header")
	case t.None != nil:
		return fmt.Errorf("nothing was recorded: %s", cmp.Or(t.None.Reason, "it does not say why"))
	}
	return nil
}
