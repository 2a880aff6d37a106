package measure

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/meter"
)

// A recording that a campaign names has to hold one; that it was cut is no mistake.
func TestCheckRecordings(t *testing.T) {
	dir := t.TempDir()
	whole := recording(time.Unix(1_700_000_000, 0), 2)
	var none bytes.Buffer
	if err := meter.None(&none, "no-nvml", ""); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"whole":   {whole, ""},
		"cut":     {whole[:len(whole)-20], ""},
		"empty":   {nil, "it has no header"},
		"none":    {none.Bytes(), "nothing was recorded: no-nvml"},
		"garbage": {[]byte("a,b\n1,2\n"), "line 1: the header is not JSON of the form that is expected: jsontext: invalid character 'a' at start of value"},
		"damaged": {append(bytes.Clone(whole), "x\n"...), "line 24: there is something after the end"},
	} {
		file := spec.File{Path: filepath.Join(dir, name), Name: name + ".jsonl"}
		if err := os.WriteFile(file.Path, c.text, 0o666); err != nil {
			t.Fatal(err)
		}
		w := spec.Workload{Kind: "energy", Energy: &spec.Energy{Traces: map[string][]spec.EnergyTrace{"fp8": {{File: &file}}}}}
		got := CheckRecordings(w)
		if c.want == "" {
			if got != nil {
				t.Errorf("%s: %v", name, got[0].Err)
			}
			continue
		}
		if len(got) != 1 || got[0].Candidate != "fp8" || got[0].Index != 0 || got[0].Err.Error() != name+".jsonl: "+c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if CheckRecordings(spec.Workload{Kind: "bench", Bench: &spec.Bench{}}) != nil {
		t.Error("a bench names no recordings")
	}
	gone := spec.Workload{Kind: "energy", Energy: &spec.Energy{Traces: map[string][]spec.EnergyTrace{"fp8": {{File: &spec.File{Path: filepath.Join(dir, "gone"), Name: "gone"}}}}}}
	if got := CheckRecordings(gone); len(got) != 1 || got[0].Err.Error() != "gone: no such file or directory" {
		t.Errorf("%+v", got)
	}
}
