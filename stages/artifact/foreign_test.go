package artifact

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What each reader takes from its tool's file. A dash is a field that is
// unknown, and must not be 0.
func TestReaders(t *testing.T) {
	for _, c := range []struct {
		file, format string
		part         string
		kind         Kind
		want         map[string]string
	}{
		{"vllm-bench.json", "vllm-bench", "", Capacity, map[string]string{"identity.model": "Qwen/Qwen3-8B", "workload.concurrency": "2", "workload.rate": "-", "results.ttft_p50_ms": "250", "results.tpot_p95_ms": "-",
			"results.throughput_tok_s": "40", "results.prompt_tokens_mean": "100", "results.failed": "0", "hardware.gpu": "-", "results.client_bound": "-"}},
		{"aiperf.json", "aiperf", "", Capacity, map[string]string{"identity.model": "Qwen/Qwen3-8B", "workload.concurrency": "8", "results.ttft_p95_ms": "150", "results.e2e_p50_ms": "880", "provenance.tool_version": "0.5.0", "workload.requests": "64", "hardware.gpu": "-"}},
		{"genai-perf.json", "genai-perf", "", Capacity, map[string]string{"identity.model": "llama", "workload.concurrency": "4", "results.throughput_tok_s": "200", "results.completed": "20"}},
		{"guidellm.json", "guidellm", "1-constant", Capacity, map[string]string{"identity.model": "e2e-mock-model", "workload.rate": "2", "results.ttft_p50_ms": "11.276", "results.e2e_p50_ms": "19.2692", "results.tpot_p50_ms": "-", "results.throughput_tok_s": "-", "results.prompt_tokens_mean": "71.5", "provenance.tool_version": "0.8.0.dev18"}},
		{"inference-perf.json", "inference-perf", "", Capacity, map[string]string{"results.completed": "60", "workload.rate": "1", "identity.model": "-"}},
		{"lm-eval.json", "lm-eval", "gsm8k", Quality, map[string]string{"results.score_mean": "0.73", "workload.grader": "exact_match,flexible-extract", "results.items": "100", "generation.temperature": "0", "workload.suites": "gsm8k@sha256:9f2a", "hardware.gpu": "-"}},
		{"mmlu-summary-choices.eval", "inspect", "", Quality, map[string]string{"identity.model": "openai/gpt-4o", "results.score_mean": "0", "results.items": "1", "results.prompt_tokens": "153", "generation.temperature": "0", "workload.repetitions": "1"}},
		{"promptfoo.json", "promptfoo", "", Quality, map[string]string{"identity.model": "echo", "results.items": "18", "results.passed": "10", "results.prompt_tokens": "-"}},
		{"asiai.json", "asiai/export", "ollama", Capacity, map[string]string{"identity.model": "qwen3:30b", "engine.version": "0.20.0", "memory.quantization": "Q4_K_M", "results.decode_tok_s_p50": "50", "results.output_tokens_mean": "200", "workload.context_tokens": "-", "results.throughput_tok_s": "-"}},
		{"asiai-slots.json", "asiai/export", "ollama/qwen3:8b", Capacity, map[string]string{"identity.model": "qwen3:8b", "engine.name": "ollama", "results.decode_tok_s_p50": "60"}},
		{"swe-report.json", "swe-bench/report", "", Resolution, map[string]string{"results.items": "3", "results.passed": "2", "results.failed": "0", "workload.grader": "-"}},
	} {
		doc, err := Read(load(t, c.file), Options{Prompts: true})
		if err != nil || doc.Format != c.format {
			t.Errorf("%s: %v, %+v", c.file, err, doc)
			continue
		}
		i := slices.IndexFunc(doc.Records, func(r *Record) bool { return r.Part == c.part })
		if i < 0 {
			t.Errorf("%s: there is no part %q", c.file, c.part)
			continue
		}
		r := doc.Records[i]
		if r.Kind != c.kind || len(r.Invalid) > 0 {
			t.Errorf("%s: kind %s, invalid %v", c.file, r.Kind, r.Invalid)
		}
		got := byName(r)
		for name, want := range c.want {
			if s := show(got[name].Value); s != want {
				t.Errorf("%s: %s = %s, want %s", c.file, name, s, want)
			}
		}
		checkComplete(t, c.file, doc)
		if cmp := Compare([]Unit{{"a", r}, {"b", r}}); !cmp.Comparable {
			t.Errorf("%s is not comparable with itself: %+v", c.file, cmp)
		}
		if b, _ := json.Marshal(doc); strings.Contains(string(b), "secret answer") || strings.Contains(string(b), "sk-a1b2") || strings.Contains(string(b), "10.0.0.1") {
			t.Errorf("%s: a text that must not be shown is in the record", c.file)
		}
	}
}

// checkComplete: every field has a value or a reason, and what is written can
// be read back as it was.
func checkComplete(t *testing.T, name string, doc *Document) {
	t.Helper()
	for _, r := range doc.Records {
		for _, f := range r.Fields() {
			if f.Value == nil && f.Unknown == "" || f.Value != nil && f.Unknown != "" {
				t.Errorf("%s: %s has neither or both: %v, %q", name, f.Name, f.Value, f.Unknown)
			}
		}
	}
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(name, err)
	}
	again, err := Read(b, Options{})
	if err != nil {
		t.Fatal(name, err)
	}
	if b2, _ := json.Marshal(again.Records); !bytes.Equal(b2, mustJSON(t, doc.Records)) {
		t.Errorf("%s: a record that was written and read is another one", name)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Only the official grader's complete report resolves anything.
func TestResolution(t *testing.T) {
	for file, want := range map[string]string{
		"swe-incomplete.json": "incomplete: the report has no result of 1 of 2 selected instances: django__django-10880",
		"swe-trajectory.json": "a trajectory or a patch is intermediate",
	} {
		doc, err := Read(load(t, file), Options{})
		if err != nil || len(doc.Records[0].Invalid) == 0 || !strings.HasPrefix(doc.Records[0].Invalid[0], want) {
			t.Errorf("%s: %v, %+v", file, err, doc.Records[0].Invalid)
		}
	}
	if v, err := Verify(load(t, "swe-report.json"), nil); err != nil || v.Checked != 6 || v.Follow != 6 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestVerifyForeign(t *testing.T) {
	for file, follow := range map[string]int{"vllm-bench.json": 7, "asiai.json": 2, "promptfoo.json": 3} {
		v, err := Verify(load(t, file), nil)
		if err != nil || v.Follow != follow || len(v.Mismatches) > 0 {
			t.Errorf("%s: %+v, %v", file, v, err)
		}
	}
	bad := bytes.Replace(load(t, "vllm-bench.json"), []byte(`"output_throughput": 40.0`), []byte(`"output_throughput": 44.0`), 1)
	if v, err := Verify(bad, nil); err != nil || len(v.Mismatches) != 1 || v.Mismatches[0].Field != "output_throughput" {
		t.Errorf("%+v, %v", v, err)
	}
}

// Shapes that are named and not compared, as a corpus of 816 files has them.
func TestOutOfScope(t *testing.T) {
	for schema, format := range map[string]string{
		"voice-stt-benchmark/v1": "out-of-scope/voice", "stt-benchmark-evidence/v1": "out-of-scope/voice", "router.profile_bootstrap/v2": "out-of-scope/router",
		"model-cache-inventory/v1": "out-of-scope/cache-inventory", "anvil-serving/source-registry/v1": "out-of-scope/source-registry", "source-registry/v1": "out-of-scope/source-registry",
		"anvil-serving.benchmark-sources.v1": "out-of-scope/source-registry", "context-hardware-sampling/v1": "out-of-scope/hardware", "hardware-snapshot/v1": "out-of-scope/hardware",
		"speculative-decoding-snapshot/v1": "out-of-scope/hardware", "model-qualification-summary/v1": "out-of-scope/summary", "public-benchmark-summary/v1": "out-of-scope/summary",
		"bakeoff-recommendations/v1": "out-of-scope/summary", "anvil-serving.stability/v1": "anvil/stability", "paired-capacity-comparison/v1": "anvil/comparison",
		"anvil-serving.control-evidence/v1": "anvil/control", "multimodal-benchmark-evidence/v1": "anvil/multimodal", "anvil-serving.benchmark-job-spec/v1": "out-of-scope/job",
		"benchmark-artifact-set/v1": "anvil/artifact-set", "anvil-serving.mtp-ab-probe/v1": "anvil/speculative",
	} {
		doc, err := Read(fmt.Appendf(nil, `{"schema": %q, "model": "m"}`, schema), Options{})
		if err != nil || doc.Format != format {
			t.Errorf("%s: %v, %+v, want %s", schema, err, doc, format)
		}
	}
}

// A speculative A/B is known by the hash of its method.
func TestMethodBlocks(t *testing.T) {
	unit := func(name, method string) Unit {
		doc, err := Read(fmt.Appendf(nil, `{"schema":"anvil-serving.mtp-ab-probe/v1","model":"m","engine":"e","gpu":"g","method":%s,"mtp_on":{"mean_tok_s":20},"mtp_off":{"mean_tok_s":10}}`, method), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s := doc.Records[0].Results.Speedup.Value; s == nil || *s != 2 {
			t.Errorf("speedup %v", s)
		}
		return Unit{name, doc.Records[0]}
	}
	if c := Compare([]Unit{unit("a", `{"prompt":"x","n":1}`), unit("b", `{"n":1,"prompt":"x"}`)}); !c.Comparable {
		t.Errorf("the order of names is no method: %+v", c)
	}
	c := Compare([]Unit{unit("a", `{"prompt":"x"}`), unit("b", `{"prompt":"y"}`)})
	if c.Comparable || c.Differences["workload.method_sha256"] == nil {
		t.Errorf("%+v", c)
	}
}

// Hostile files, each in one sentence.
func TestHostile(t *testing.T) {
	deep := strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100)
	for content, want := range map[string]string{
		``:                  "the file is empty",
		`{"schema":`:        "no JSON at byte",
		`{"a":1,"a":2}`:     "a name stands twice",
		deep:                "nested deeper than 64",
		`{"what":1}`:        "no known shape of evidence: it has the fields what",
		`"text"`:            "no known shape of evidence: it is no object",
		`{"schema":"x/v9"}`: "its schema is x/v9",
		"PK\x03\x04":        "the archive is damaged",
		"[" + strings.Repeat(`[],`, 4_000_001) + "[]]": "more than 4000000 values",
	} {
		if _, err := Read([]byte(content), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", content, err, want)
		}
	}
	for _, c := range []struct{ content, want string }{
		{`{"schema":"anvil-serving.benchmark/v1","metrics":{"throughput_tok_s":1e999},"requests":"many"}`, ""},
		{`{"schema":"anvil-serving.benchmark/v1","metrics":{},"requests":-1,"completed":[1],"concurrency":1.5,"model":7}`, "requests must be a whole number"},
		{`{"schema":"anvil-serving.fast-tier-bakeoff/v1","suites":{"a":{"status":"passed","checks":[]}}}`, "suite a has 0 checks"},
	} {
		doc, err := Read([]byte(c.content), Options{})
		if err != nil && c.want != "" || err == nil && len(doc.Records[0].Invalid) == 0 {
			t.Errorf("%s: %v", c.content, err)
			continue
		}
		if err == nil && c.want != "" && !slices.ContainsFunc(doc.Records[0].Invalid, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("%q is not in %q", c.want, doc.Records[0].Invalid)
		}
	}
}

// Archives: a bomb, an escape, a name that stands twice, no header.
func TestHostileArchives(t *testing.T) {
	pack := func(write func(z *zip.Writer)) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		write(z)
		z.Close()
		return b.Bytes()
	}
	put := func(z *zip.Writer, name string, content []byte) {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(content)
	}
	for want, content := range map[string][]byte{
		"it unpacks to more than 32 MiB":  pack(func(z *zip.Writer) { put(z, "header.json", bytes.Repeat([]byte(" "), 40<<20)) }),
		"leaves the archive":              pack(func(z *zip.Writer) { put(z, "../header.json", []byte("{}")) }),
		"stands twice":                    pack(func(z *zip.Writer) { put(z, "header.json", []byte("{}")); put(z, "header.json", []byte("{}")) }),
		"the archive has no header.json":  pack(func(z *zip.Writer) { put(z, "x", nil) }),
		"is not that of an Inspect log":   pack(func(z *zip.Writer) { put(z, "header.json", []byte("{}")) }),
		"header.json: no JSON at byte":    pack(func(z *zip.Writer) { put(z, "header.json", []byte("{")) }),
		"header.json: the document is ne": pack(func(z *zip.Writer) { put(z, "header.json", []byte(strings.Repeat("[", 99))) }),
	} {
		if _, err := Read(content, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Every reader on any bytes: an error or complete records, never a panic, and
// what is written can be read back.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*")
	more, _ := filepath.Glob("testdata/anvil/*")
	for _, name := range append(files, more...) {
		if b, err := os.ReadFile(name); err == nil && len(b) < 40_000 {
			f.Add(b)
		}
	}
	f.Add([]byte(`{"schema":"cupel/record/v1","candidates":{"a":{"load":{"w":{"cells":[{"name":"c=1"}]}},"scores":{"q":{}},"preflight":{}}}}`))
	f.Add([]byte(`{"schema":"cupel/decision/v1","candidates":[{"candidate":"a"}]}`))
	for _, s := range []string{
		`{"workload":"w","kind":"capacity","protocol":"capacity-v3","cells":[{"name":"c=1","concurrency":1,"trials":1,"ttft_ms":{"n":1,"p50":1}}]}`,
		`{"declared":{"model":{"repo":"a/b"},"engine":{"flags":["--x"]},"reasoning":{"control":"effort-low"}},"observed":{"served":"m"},"fields":[]}`,
		`{"stratify":"task","overall":{"items":1,"mean":{"value":1}},"scorers":{"exact":"1"}}`,
		`{"workload":"w","agreement":{},"stats":{"overall":{"n":3,"delta":0.5,"method":"t"}}}`,
		`{"kind":"capacity","cell":"c=1","loop":"closed","requests":1,"prompts":{"builder":"anvil/s"},"wall_ns":1}` + "\n{}\n",
		`{"schema":"anvil-serving.mtp-ab-probe/v1","method":{"a":[1]},"mtp_on":{"mean_tok_s":2},"mtp_off":{"mean_tok_s":1}}`,
		`{"schema":"anvil-serving.benchmark-result/v1","results":{"evidence":{"evidence_kind":"measured","completeness":"failed"}}}`,
		`{"schema":"kernel-tune-ab-comparison/v1","default":{"primary":{"means":{"x":1},"artifacts":[{"sha256":"zz"}]}},"tuned":{}}`,
		`{"schema":"multimodal-benchmark-evidence/v1","attempts":[{"passed":true}]}`,
		`{"schema":"anvil-serving.swe-run/v1","instances":["a__b-1"],"grader_report":{"completed_ids":["a__b-1"],"resolved_ids":[]},"state":"completed"}`,
		`{"workload":"w","kind":"energy","protocol":"capacity-v3","cells":[{"name":"c=1"}],"energy":[{"name":"c=1","asiai":{"base":"nv.gpu","window":"turn","soc_watts":{"value":3}},"bases":[{"base":"nv.gpu","windows":{"cell":{"j":{"value":1}}}}]}]}`,
		`{"schema":"cupel/evidence/v1","kind":"capacity","results":{"energy_per_token_j":{"value":0.5}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Add(asiaiWith(soc5))
	f.Fuzz(func(t *testing.T, content []byte) {
		doc, err := Read(content, Options{})
		if err != nil {
			return
		}
		if len(doc.Records) == 0 {
			t.Fatal("neither a record nor an error")
		}
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range doc.Records {
			for _, field := range r.Fields() {
				if field.Value == nil && field.Unknown == "" {
					t.Fatalf("%s has neither a value nor a reason", field.Name)
				}
			}
			Compare([]Unit{{"a", r}, {"b", r}})
			for _, as := range Converters() {
				Convert(as, []*Record{r})
			}
		}
		if len(b) < MaxBytes {
			if _, err := Read(b, Options{}); err != nil {
				t.Fatalf("what is written cannot be read: %v", err)
			}
		}
		if _, err := Verify(content, nil); err != nil {
			t.Fatal(err)
		}
		Trial(content)
	})
}
