package llm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/llm"
)

func TestWeightsFrom(t *testing.T) {
	commit := strings.Repeat("9a", 20)
	for from, want := range map[string][3]string{
		"":                           {},
		"org/name":                   {"org/name", "", ""},
		"org/name-GGUF:Q4_K_M":       {"org/name-GGUF", "", "Q4_K_M"},
		"gpt2":                       {"", "", "gpt2"},
		"/data/bloom/":               {"", "", "bloom"},
		"./org/name":                 {"", "", "name"},
		"models/name":                {"", "", "name"},
		"~/w/x.gguf":                 {"", "", "x.gguf"},
		`C:\Users\alice\x.gguf`:      {"", "", "x.gguf"},
		"s3://bucket/alice/x":        {"", "", "x"},
		"https://host/org/x?token=1": {"", "", "x"},
		"/root/.cache/huggingface/hub/models--org--na-me/snapshots/" + commit:     {"org/na-me", commit, ""},
		"/c/models--org--name/snapshots/" + commit + "/sub/x-00001-of-00002.gguf": {"org/name", commit, "x-00001-of-00002.gguf"},
		"/c/models--org--name/snapshots/main/x.gguf":                              {"", "", "x.gguf"},
		"org/name/more":                    {"", "", "more"},
		strings.Repeat("a", 200) + "/name": {"", "", "name"},
	} {
		repo, revision, file := llm.WeightsFrom(from)
		if got := [3]string{repo, revision, file}; got != want {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
}

func TestFileType(t *testing.T) {
	for said, want := range map[string]string{
		"Q4_K - Medium": "Q4_K_M", "Q5_K - Small": "Q5_K_S", "Q3_K - Large": "Q3_K_L", "Q2_K - Medium": "Q2_K", "Q2_K - Small": "Q2_K_S",
		"Q8_0": "Q8_0", "F16": "F16", "all F32": "F32", "(guessed) Q4_0": "Q4_0", "IQ2_XXS - 2.0625 bpw": "IQ2_XXS", "": "", "unknown, may not work": "", "MXFP4 MoE": "",
	} {
		if got := llm.FileType(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

func TestPythonFields(t *testing.T) {
	got := llm.PythonFields(`a='x, y=1', b=C(d='e', f=[1, 2]), b=2, g={"h": "i\"j"},  k=None, broken, l="m`)
	want := map[string]string{"a": "x, y=1", "b": "C(d='e', f=[1, 2])", "g": `{"h": "i\"j"}`, "k": "None", "l": "m"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
