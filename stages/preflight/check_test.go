package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
)

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) spec.File {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return spec.File{Path: p, Name: name}
	}
	png, note := file("a.png", "\x89PNG\r\n\x1a\n and more"), file("note.png", "hello")
	film, gone := file("f.mp4", "\x89PNG\r\n\x1a\n"), spec.File{Path: filepath.Join(dir, "gone.png"), Name: "gone.png"}
	c := &spec.Campaign{
		Candidates: map[string]spec.Candidate{
			"a": {Model: spec.Model{Repo: "Qwen/Qwen3-8B"}, Reasoning: &spec.Reasoning{Control: "effort-low"}},
			"b": {Model: spec.Model{Repo: "some/other"}, Reasoning: &spec.Reasoning{Control: "effort-low"}},
			"c": {},
		},
		Judges: map[string]spec.Judge{"j": {Pins: spec.JudgePins{Model: spec.Model{Repo: "openai/gpt-oss-20b"}, Reasoning: &spec.Reasoning{Control: "thinking-on"}}}},
		Preflight: spec.Preflight{
			Image: &spec.PictureCheck{File: &note}, OCR: &spec.PictureCheck{File: &png}, Video: &spec.VideoCheck{File: film},
		},
	}
	var got []string
	for _, p := range Check(c) {
		got = append(got, strings.Join(p.Path, ".")+": "+p.Err.Error())
	}
	want := []string{"candidates.a.reasoning.control: reasoning control effort-low", "judges.j.pins.reasoning.control: reasoning control thinking-on",
		"preflight.image.file: note.png: its content is no image", "preflight.video.file: f.mp4: its content is no video"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
	c.Preflight = spec.Preflight{Image: &spec.PictureCheck{File: &gone}}
	if p := Check(c); len(p) != 3 || !strings.Contains(p[2].Err.Error(), "gone.png: no such file") {
		t.Errorf("%v", p)
	}
}
