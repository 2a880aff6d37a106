package foreign

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fuzzRead reads any bytes with one and with three workers: the same rows and
// the same error, every row with an id, and never neither rows nor an error.
func fuzzRead(t *testing.T, content []byte, o Options) {
	t.Helper()
	type outcome struct {
		Rows   []string
		Report Report
		Err    string
	}
	run := func(workers int) (out outcome) {
		o.Workers = workers
		rows, rep, err := read(t, content, o)
		for _, r := range rows {
			if r.ID == "" || len(r.ID) > maxID {
				t.Errorf("a row has the id %q", r.ID)
			}
			for _, th := range r.Theirs {
				if th.Value == nil && th.Reason == "" || th.Value != nil && *th.Value != *th.Value {
					t.Errorf("%s: a score without value and reason, or NaN", th.Name)
				}
			}
			out.Rows = append(out.Rows, brief(r))
		}
		if out.Report = rep; err != nil {
			out.Err = err.Error()
		} else if len(rows) == 0 {
			t.Error("neither a row nor an error")
		}
		return out
	}
	if d := cmp.Diff(run(1), run(3)); d != "" {
		t.Errorf("one worker and three differ:\n%s", d)
	}
}

func fuzz(f *testing.F, files ...string) {
	for _, name := range files {
		f.Add(load(f, name), "")
	}
	f.Fuzz(func(t *testing.T, content []byte, id string) {
		fuzzRead(t, content, Options{ID: id})
	})
}

func FuzzPlain(f *testing.F)        { fuzz(f, "plain.jsonl", "cupel.jsonl") }
func FuzzLMEval(f *testing.F)       { fuzz(f, "lm-eval.jsonl") }
func FuzzBatch(f *testing.F)        { fuzz(f, "batch.jsonl") }
func FuzzPromptfoo(f *testing.F)    { fuzz(f, "promptfoo.jsonl") }
func FuzzInspectJSON(f *testing.F)  { fuzz(f, "inspect.json") }
func FuzzInspect(f *testing.F)      { fuzz(f, "log_formats.eval", "mmlu-summary-choices.eval") }
func FuzzPromptfooDoc(f *testing.F) { fuzz(f, "promptfoo.json") }

func FuzzGuideLLM(f *testing.F) {
	f.Add([]byte(`{"benchmarks":[{"requests":{"successful":[{"request_id":"r1","output":"x","output_tokens":3}],"errored":[{"request_id":"r2","error":"boom"}],"incomplete":[]}}]}`), "")
	f.Fuzz(func(t *testing.T, content []byte, id string) { fuzzRead(t, content, Options{ID: id}) })
}

// FuzzSample puts any bytes as a sample into a sound archive, which mutations
// of an archive hardly reach.
func FuzzSample(f *testing.F) {
	f.Add([]byte(sample("1", 1, `,"scores":{"m":{"value":"C"}},"limit":{"type":"token"}`)))
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzRead(t, pack(t, entry{"header.json", goodHeader, zip.Store}, entry{"samples/1_epoch_1.json", string(content), zip.Deflate}), Options{})
	})
}

// FuzzDetect looks at any head of a file.
func FuzzDetect(f *testing.F) {
	f.Add([]byte(`{"evalId":"x","results":{"results":[]}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		format, err := Detect(bytes.NewReader(content), int64(len(content)))
		if (err == nil) != (format.Name != "") {
			t.Errorf("format %q, error %v", format.Name, err)
		}
	})
}
