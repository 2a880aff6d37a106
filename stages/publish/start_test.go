package publish

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// TestStartSource: only of a candidate with commands is a start looked for, so
// that the records of all other campaigns keep their keys.
func TestStartSource(t *testing.T) {
	c := campaign()
	count := func() (n int) {
		for _, s := range sources(c) {
			if s.What == "start" {
				n++
			}
		}
		return n
	}
	if n := count(); n != 0 {
		t.Errorf("%d starts", n)
	}
	who := c.Candidates["fp8"]
	who.Serve = &spec.Serve{Start: []string{"x"}}
	c.Candidates["fp8"] = who
	if n := count(); n != 1 {
		t.Errorf("%d starts", n)
	}
}

// TestStarts: load times, their absence and the log of a failed start are in the
// finding; what a server printed is text.
func TestStarts(t *testing.T) {
	rec, dec := fixture(t)
	seconds := 12.345
	for name, d := range map[string]*evidence.StartDoc{
		"bf16": {LoadS: &seconds}, "fp8": {Reason: "found running"},
		"nvfp4": {Reason: "it did not come up", Failure: "nvfp4 did not load", Log: []string{"CUDA `out` of memory", "<script>alert(1)</script> | x"}},
	} {
		c := rec.Candidates[name]
		c.Start = d
		rec.Candidates[name] = c
	}
	load := rec.Candidates["fp8"].Load["steady"]
	load.Apart, load.Beside = "candidates share GPUs", []string{"a", "b"}
	rec.Candidates["fp8"].Load["steady"] = load
	readme, report, err := render(rec, dec)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| bf16 | 12.3 s |", "| fp8 | not measured: found running |", "| nvfp4 | failed: nvfp4 did not load |",
		"- `` CUDA `out` of memory ``", "order: sequential (candidates share GPUs)", "measured with a and b resident on the same GPUs",
	} {
		if !strings.Contains(string(readme), want) {
			t.Errorf("README.md lacks %q", want)
		}
	}
	for _, want := range []string{"12.3 s", "not measured: found running", "&lt;script&gt;alert(1)&lt;/script&gt; | x"} {
		if !strings.Contains(string(report), want) {
			t.Errorf("report.html lacks %q", want)
		}
	}
	wellFormed(t, report)
	tables(t, readme)
}
