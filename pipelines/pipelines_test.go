package pipelines

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
)

// What people copy from must hold every rule and run on this version.
func TestPipelinesLoad(t *testing.T) {
	names := Names()
	if len(names) < 3 {
		t.Fatalf("only %q are embedded", names)
	}
	for _, name := range names {
		l, err := spec.Load(name + extension)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if len(l.Warnings) > 0 {
			t.Errorf("%s: warnings %v", name, l.Warnings)
		}
		if l.Campaign.Campaign != name {
			t.Errorf("%s: the campaign is called %s", name, l.Campaign.Campaign)
		}
	}
}

func TestReadUnknown(t *testing.T) {
	if _, err := Read("no-such"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read: %v", err)
	}
}
