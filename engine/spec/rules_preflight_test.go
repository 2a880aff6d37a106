package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/step"
)

// preflightCampaign is the smallest campaign with this preflight section.
func preflightCampaign(section string) []byte {
	return []byte(`apiVersion: cupel/v1
campaign: c
decision: {question: "q?", kind: other}
candidates:
  a: {role: baseline, model: {sha256: ` + strings.Repeat("a", 64) + `}, sampling: {maxTokens: 16}}
preflight: ` + section + `
measure:
  d: {kind: decode, outputTokens: 8, requests: 2}
decide: {guards: {}}
`)
}

// mediaDir is a folder with a file of each kind.
func mediaDir(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"a.png", "b.JPEG", "c.webp", "d.mp4", "e.mov", "f.gif"} {
		write(t, dir, name, name)
	}
	write(t, dir, "empty.png", "")
	if err := os.Symlink("a.png", filepath.Join(dir, "link.png")); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "big.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(10<<20 + 1); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPreflightSections(t *testing.T) {
	dir := mediaDir(t)
	l, err := loadText(filepath.Join(dir, "c.yaml"), preflightCampaign(`
  checks: [image, ocr, video, needle, tools, long-tools, reasoning, seed]
  compat: anvil
  needle: {promptTokens: 900, position: 0}
  tools: {}
  longTools: {}
  reasoning: {}
  seed: {}
  image: {file: a.png, expect: [cat], prompt: "What is it?"}
  ocr: {file: b.JPEG, expect: ["A 1"]}
  video: {file: d.mp4, expect: [ball]}
  evidence: {}`))
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) File {
		return File{Path: filepath.Join(dir, name), Name: name, Digest: step.Sum([]byte(name)), Size: int64(len(name))}
	}
	image, ocr, zero := of("a.png"), of("b.JPEG"), 0.0
	want := Preflight{
		Checks: []string{"image", "ocr", "video", "needle", "tools", "long-tools", "reasoning", "seed"}, Compat: "anvil",
		Needle: &NeedleCheck{900, &zero}, Tools: &ToolsCheck{20}, LongTools: &LongToolsCheck{131072, 100000},
		Reasoning: &ReasoningCheck{Require: "verified"}, Seed: &SeedCheck{Requests: 16, Concurrency: 8, MinSame: 1, Temperature: 0.8},
		Image: &PictureCheck{&image, "What is it?", []string{"cat"}}, OCR: &PictureCheck{&ocr, "", []string{"A 1"}},
		Video: &VideoCheck{of("d.mp4"), "", []string{"ball"}}, Evidence: &EvidencePolicy{[]string{"stop", "tool_calls"}, "any"},
	}
	if diff := cmp.Diff(want, l.Campaign.Preflight); diff != "" {
		t.Error(diff)
	}
	if len(l.Files) != 3 || len(l.Warnings) != 1 { // the missing guard
		t.Errorf("%d files, %v", len(l.Files), l.Warnings)
	}
	if !strings.Contains(string(l.Canonical), `"image":{"expect":["cat"],"file":{"sha256":"`+image.Digest.String()) {
		t.Errorf("%s", l.Canonical)
	}
}

func TestPreflightMistakes(t *testing.T) {
	dir := mediaDir(t)
	for section, want := range map[string]string{
		`{checks: [needle]}`:                                            "preflight.checks: the check needle needs a length; add needle:",
		`{checks: [video]}`:                                             "the check video needs a film",
		`{checks: [image], image: {file: a.png}}`:                       "preflight.image: names a file and not what the answer must hold",
		`{checks: [image], image: {expect: [x]}}`:                       "preflight.image: says what to ask and names no file",
		`{checks: [ocr], ocr: {prompt: x}}`:                             "preflight.ocr: says what to ask and names no file",
		`{checks: [image], image: {file: link.png, expect: [x]}}`:       "link.png is a symbolic link; name the file itself",
		`{checks: [image], image: {file: f.gif, expect: [x]}}`:          `found the extension ".gif"; allowed .png, .jpg, .jpeg or .webp`,
		`{checks: [image], image: {file: d.mp4, expect: [x]}}`:          `found the extension ".mp4"`,
		`{checks: [video], video: {file: a.png, expect: [x]}}`:          "allowed .mp4, .webm or .mov",
		`{checks: [image], image: {file: empty.png, expect: [x]}}`:      "empty.png is empty",
		`{checks: [image], image: {file: big.png, expect: [x]}}`:        "10485761 bytes, allowed 10485760",
		`{checks: [image], image: {file: gone.png, expect: [x]}}`:       "gone.png: no such file",
		`{checks: [long-tools], longTools: {promptTokens: 2000}}`:       "wants at least 100000 tokens of a prompt of 2000; lower min",
		`{checks: [needle], needle: {promptTokens: 10, position: 1.5}}`: "preflight.needle.position: found 1.5",
		`{checks: [tools], tools: {parallel: 129}}`:                     "preflight.tools.parallel: found 129",
		`{checks: [seed], seed: {minSame: 2}}`:                          "preflight.seed.minSame: found 2",
		`{checks: [reasoning], reasoning: {require: maybe}}`:            "preflight.reasoning.require",
		`{checks: [health], compat: other}`:                             "preflight.compat",
	} {
		_, err := loadText(filepath.Join(dir, "c.yaml"), preflightCampaign(section))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", section, err, want)
		}
	}
	if _, err := loadText(filepath.Join(dir, "c.yaml"), preflightCampaign(`{checks: [needle], compat: anvil}`)); err != nil {
		t.Errorf("the other tool has a length of its own: %v", err)
	}
	l, err := loadText(filepath.Join(dir, "c.yaml"), preflightCampaign(`{checks: [health], seed: {}, longTools: {}}`))
	if err != nil || len(l.Warnings) != 3 || !strings.Contains(l.Warnings.Error(), "add long-tools to checks") {
		t.Errorf("%v, %v", err, l.Warnings)
	}
}
