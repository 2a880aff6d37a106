package artifact

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/format"

	"github.com/cupel-dev/cupel/schemas"
)

const published = "../../schemas/evidence.cue"

// The published schema is what the types say, field by field.
func TestSchemaAgreesWithTypes(t *testing.T) {
	want, err := format.Source(CUE())
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(published, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(published)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say (%v); after a look: UPDATE=1 go test ./stages/artifact", published, err)
	}
}

// Records of every reader are of the published schema, and a 0 for what is
// unknown is not.
func TestRecordsAreOfTheSchema(t *testing.T) {
	def := evidenceDef(t)
	for _, name := range []string{"artifacts/2551ad-fp8-moe-ab-default-v3-primary-r1.json", "artifacts/6d1b5a-stock-mmlu-pro-r3-thinking-enabled.json",
		"artifacts/b5ffe7-context.json", "artifacts/9a5efb-p1.json", "vllm-bench.json", "guidellm.json", "lm-eval.json", "mmlu-summary-choices.eval", "promptfoo.json", "swe-report.json", "asiai.json"} {
		doc, err := Read(load(t, name), Options{Prompts: true})
		if err != nil {
			t.Fatal(name, err)
		}
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if err := def.Unify(def.Context().CompileBytes(b)).Validate(cue.Concrete(true)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		bad := bytes.Replace(b, []byte(`"driver":{"unknown":`), []byte(`"driver":{"was":`), 1)
		if err := def.Unify(def.Context().CompileBytes(bad)).Validate(cue.Concrete(true)); err == nil || bytes.Equal(bad, b) {
			t.Errorf("%s: neither a value nor a reason is of the schema", name)
		}
	}
}

func evidenceDef(t *testing.T) cue.Value {
	t.Helper()
	all := []byte("package cupel\n")
	for _, name := range []string{"scalars.cue", "evidence.cue"} {
		src, err := schemas.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.Replace(src, []byte("package cupel\n"), nil, 1)...)
	}
	v := cuecontext.New().CompileBytes(all)
	def := v.LookupPath(cue.ParsePath("#EvidenceFile"))
	if def.Err() != nil {
		t.Fatal(def.Err())
	}
	return def
}
