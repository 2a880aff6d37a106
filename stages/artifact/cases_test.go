package artifact

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorded is one recorded answer of another tool's comparison.
type recorded struct {
	ID          string              `json:"id"`
	Artifacts   []string            `json:"artifacts"`
	RC          int                 `json:"rc"`
	Comparable  bool                `json:"comparable"`
	Differences map[string][]any    `json:"differences"`
	Unknown     map[string][]string `json:"unknown_fields"`
	Invalid     map[string][]string `json:"invalid_artifacts"`
}

// ours are that tool's names of fields here.
var ours = map[string]string{
	"kind": "kind", "schema": "format", "gpu": "hardware.gpu", "served_context_tokens": "memory.served_context_tokens",
	"context_tokens": "workload.context_tokens", "requests": "workload.requests", "concurrency": "workload.concurrency",
	"max_tokens": "generation.max_tokens", "measurement_protocol": "workload.protocol", "protocol_version": "workload.protocol_version",
	"repetitions": "workload.repetitions", "visible_answer_tokens": "generation.visible_answer_tokens",
	"reasoning_headroom_tokens": "generation.reasoning_headroom_tokens", "minimum_pass_rate": "workload.minimum_pass_rate",
	"shared_prefix_burst": "workload.shared_prefix_burst", "suites": "workload.suites", "thinking_mode": "generation.thinking_mode",
	"provenance.engine": "engine.name", "provenance.gpu": "hardware.gpu", "workload.cache_policy": "workload.cache_policy",
	"workload.prompt_set_id": "workload.prompt_set_id", "protocol.thinking_control_evidence_sha256": "generation.control_evidence_sha256",
	"protocol.thinking_control_status": "generation.control_status=verified", "protocol.version=3": "workload.protocol_version=3",
	"suites.evidence_use=ranking": "workload.suites.evidence_use=ranking", "suites.source_sha256": "workload.suites.source_sha256",
	"suites.strong_validator": "workload.suites.strong_validator",
}

// wrong are the recorded answers that are not the right ones, with the right
// one and why.
var wrong = map[string]struct {
	comparable bool
	why        string
}{
	"01-v3-matched-ab-json":           {true, "cache policy and prompts follow from what the generator was given"},
	"15-self-json":                    {true, "a file is equal to itself"},
	"34-native-ranking-quality-json":  {true, "sections that were not run say nothing about the suite that was"},
	"38-campaign-false-positive-json": {false, "a context job is no agentic job"},
	"39-external-prior-pair-json":     {false, "claims are no measurements"},
}

// soft are differences with an unknown side, which are cautions here.
var soft = []string{"generation.visible_answer_tokens", "generation.reasoning_headroom_tokens", "workload.minimum_pass_rate"}

func TestRecordedAnswers(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.ID, func(t *testing.T) {
			switch c.ID {
			case "40-list-crash": // list is a command; see evidence.txtar
				return
			case "19-preflight-unrecognized":
				if doc, err := Read(load(t, c.Artifacts[0]), Options{}); err != nil || doc.Records[0].Kind != Preflight {
					t.Errorf("a preflight is recognised here: %v", err)
				}
				return
			}
			got := compareFiles(t, c.Artifacts...)
			if w, ok := wrong[c.ID]; ok {
				if got.Comparable != w.comparable {
					t.Errorf("comparable %v, want %v: %s\n%+v", got.Comparable, w.comparable, w.why, got)
				}
				return
			}
			if got.Comparable != c.Comparable || got.Comparable != (c.RC == 0) {
				t.Errorf("comparable %v, recorded %v: %+v", got.Comparable, c.Comparable, got)
			}
			for name, values := range c.Differences {
				if slices.Contains(values, nil) && slices.Contains(soft, ours[name]) {
					continue
				}
				if got.Differences[ours[name]] == nil {
					t.Errorf("%s (%s) is a recorded difference, and not one here: %v", name, ours[name], slices.Collect(maps.Keys(got.Differences)))
				}
			}
			for name := range c.Unknown {
				derived := (ours[name] == "workload.cache_policy" || ours[name] == "workload.prompt_set_id") && !strings.HasPrefix(c.ID, "05")
				unrun := ours[name] == "workload.suites.source_sha256" && strings.HasPrefix(c.ID, "09") // of sections that were not run alone
				if got.Unknown[ours[name]] == nil && !derived && !unrun {
					t.Errorf("%s (%s) is a recorded unknown, and not one here: %v", name, ours[name], slices.Collect(maps.Keys(got.Unknown)))
				}
			}
		})
	}
}

// A null is unknown and no damage, and a section that was not run is no suite;
// what else the other tool calls invalid is invalid here.
func TestRecordedInvalid(t *testing.T) {
	got := compareFiles(t, "artifacts/8690e3-cap-a-declared.json", "artifacts/26b04a-cap-malformed.json")
	if len(got.Invalid) != 1 {
		t.Fatalf("%+v", got.Invalid)
	}
	for _, list := range got.Invalid {
		for _, want := range []string{"metrics.throughput_tok_s must be a finite number", "no_thinking=true conflicts", "thinking_mode is unsupported"} {
			if !slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, want) }) {
				t.Errorf("%q is not in %q", want, list)
			}
		}
	}
}

func cases(t *testing.T) (out []recorded) {
	t.Helper()
	b, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil || len(out) < 15 {
		t.Fatalf("%d cases: %v", len(out), err)
	}
	return out
}

func load(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", strings.Replace(name, "artifacts/", "anvil/", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func compareFiles(t *testing.T, names ...string) Comparison {
	t.Helper()
	var units []Unit
	for _, name := range names {
		doc, err := Read(load(t, name), Options{Prompts: true})
		if err != nil {
			t.Fatal(name, err)
		}
		units = append(units, Unit{name, doc.Records[0]})
	}
	return Compare(units)
}

// Every artifact of the other tool is equal to itself, unless it is invalid or
// no measurement.
func TestEqualToItself(t *testing.T) {
	files, _ := filepath.Glob("testdata/anvil/*.json")
	for _, f := range files {
		name := "artifacts/" + filepath.Base(f)
		doc, err := Read(load(t, name), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := doc.Records[0]
		if c := compareFiles(t, name, name); c.Comparable != (len(r.Invalid) == 0 && incomparable[r.Kind] == "") {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// Every number that its rows can give follows from them.
func TestVerifyRecorded(t *testing.T) {
	files, _ := filepath.Glob("testdata/anvil/*.json")
	checked := 0
	for _, f := range files {
		v, err := Verify(load(t, "artifacts/"+filepath.Base(f)), nil)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		checked += v.Checked
		if len(v.Mismatches) > 0 && !strings.Contains(f, "malformed") {
			t.Errorf("%s: %+v", f, v.Mismatches)
		}
	}
	if checked < 350 {
		t.Errorf("only %d numbers were recomputed", checked)
	}
}
