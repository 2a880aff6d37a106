package schemas

import (
	"bytes"
	"strings"
	"testing"

	"cuelang.org/go/cue/format"
)

// The definitions are published: they are in CUE's own layout, all of them are
// embedded, and the module file names the module.
func TestDefinitions(t *testing.T) {
	text, err := Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, def := range []string{"#Campaign: {", "#Candidate:", "#Workload:", "#Decide: {", "#Bindings:"} {
		if !bytes.Contains(text, []byte(def)) {
			t.Errorf("%s is not in the text", def)
		}
	}
	entries, err := Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		src, err := Files.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		want, err := format.Source(src)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(src, want) {
			t.Errorf("%s is not formatted: cue fmt", e.Name())
		}
		// `if` would become "anything goes" in the JSON Schema.
		if bytes.Contains(src, []byte("\tif ")) {
			t.Errorf("%s has an if", e.Name())
		}
	}
	module, err := Files.ReadFile("cue.mod/module.cue")
	if err != nil || !strings.Contains(string(module), `"`+Module+`"`) {
		t.Errorf("module file: %v\n%s", err, module)
	}
}
