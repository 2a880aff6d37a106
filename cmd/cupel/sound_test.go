package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sound compares what a lab's store holds with what an undisturbed run leaves.
// Timings differ, and what a set that grew did not ask for, and with them the digests that the record lists and
// everything made of the record; but not the decision's verdicts.
func sound(t *testing.T, l *lab, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, l.outputs()); diff != "" {
		t.Errorf("other outputs than an undisturbed run:\n%s", diff)
	}
	l.clean()
	found, err := filepath.Glob(l.path("findings", "*-*-*-swap"))
	if err != nil || len(found) != 1 {
		t.Fatalf("findings %v, %v", found, err)
	}
	if err := checkSums(found[0]); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(l.path("findings", ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// clean wants a store without a problem.
func (l *lab) clean() {
	l.t.Helper()
	if r := l.run(0, "store", "check"); !strings.Contains(r.stdout, " 0 problem(s)") {
		l.t.Error(r.stdout)
	}
}

// outputs maps "step:output" to the digest of what time does not change, for
// every step of the campaign.
func (l *lab) outputs() map[string]string {
	l.t.Helper()
	var plan struct {
		Steps []struct{ Step, Forecast string }
	}
	if err := json.Unmarshal([]byte(l.run(0, "plan", "campaign.yaml", "--json").stdout), &plan); err != nil {
		l.t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range plan.Steps {
		if s.Forecast != "cached" && s.Forecast != "look" {
			l.t.Errorf("%s: %s", s.Step, s.Forecast)
			continue
		}
		rec, err := recordOf(l.path(".cupel"), s.Step)
		if err != nil {
			l.t.Fatal(err)
		}
		for _, o := range rec.Outputs {
			out[s.Step+":"+o.Name] = o.Digest.String()
		}
	}
	maps.DeleteFunc(out, func(name, _ string) bool {
		return strings.HasSuffix(name, ":timings.jsonl") || strings.HasSuffix(name, ":kept.json") || strings.HasPrefix(name, "publish/") || strings.HasPrefix(name, "decide/")
	})
	out["decision"] = l.decision()
	return out
}

// decision is the newest decision without the digest of its evidence.
func (l *lab) decision() string {
	l.t.Helper()
	var shown struct{ Decision map[string]any }
	if err := json.Unmarshal([]byte(l.run(0, "show", "campaign.yaml", "--json").stdout), &shown); err != nil {
		l.t.Fatal(err)
	}
	delete(shown.Decision, "evidence")
	b, err := json.Marshal(shown.Decision)
	if err != nil {
		l.t.Fatal(err)
	}
	return string(b)
}

// journaled are the lines of the journals of the store that name the model.
func (l *lab) journaled(model string) []string {
	var lines []string
	files, err := filepath.Glob(l.path(".cupel", "journals", "*", "*.log"))
	if err != nil {
		l.t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			l.t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			if bytes.HasSuffix(line, []byte("\n")) && bytes.Contains(line, []byte(`"model":"`+model+`"`)) {
				lines = append(lines, string(line))
			}
		}
	}
	return lines
}

// journal returns the name and the content of the only journal segment of a model.
func (l *lab) journal(model string) (string, []byte) {
	l.t.Helper()
	files, _ := filepath.Glob(l.path(".cupel", "journals", "*", "*.log"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(`"model":"`+model+`"`)) {
			return f, b
		}
	}
	l.t.Fatalf("no journal of %s in %v", model, files)
	return "", nil
}

// copy is the same lab in another directory, with the same endpoints.
func (l *lab) copy(t *testing.T) *lab {
	t.Helper()
	c := *l
	c.t, c.dir = t, t.TempDir()
	if err := copyTreeModes(l.dir, c.dir); err != nil {
		t.Fatal(err)
	}
	c.env = slices.Clone(l.env)
	for name, value := range homes(c.dir) {
		c.env = append(c.env, name+"="+value)
	}
	return &c
}

// copyTreeModes copies regular files with their permissions, which the store checks.
func copyTreeModes(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(filepath.Join(to, rel), b, info.Mode()))
	})
}
