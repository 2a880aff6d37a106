package measure

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
)

// What an item shows goes out with its own message, behind a system prompt; a
// file that the suite does not list is refused before anything is sent.
func TestMediaIsSent(t *testing.T) {
	picture := []byte("\x89PNG picture")
	sum := step.Sum(picture)
	line := fmt.Sprintf(`{"id":"a","input":[{"role":"user","content":"first"},{"role":"assistant","content":"yes"},{"role":"user","content":"see","media":[{"image":"images/a.png","sha256":"%s"}]}],"scorer":"exact","answer":"x"}`+"\n", sum)
	job := generateJob(t, quality(), []byte(line))
	ep := endpoint(func(ctx context.Context, r llm.Request) llm.Response {
		for i, m := range r.Messages {
			if (i == len(r.Messages)-1) != (len(m.Media) == 1) {
				t.Errorf("message %d, %q, holds %d files", i, m.Content, len(m.Media))
			}
		}
		if got := r.Messages[len(r.Messages)-1].Media[0]; got.MIME != "image/png" || got.Kind != "image" || string(got.Data) != string(picture) {
			t.Errorf("sent is %+v", got)
		}
		return echo(ctx, r)
	})
	job.Inputs[mediaInput(sum)] = picture
	err := Generate{Dial: dial(ep), Backoff: noWait}.Run(context.Background(), job)
	if err == nil || !strings.Contains(err.Error(), "item a shows images/a.png, which its suite does not list") {
		t.Errorf("without the input: %v", err)
	}
	job.S.Inputs = map[string]step.Input{mediaInput(sum): {Blob: sum}}
	if err := generate(t, job, ep); err != nil {
		t.Fatal(err)
	}
}

// Pictures are inputs of the generation, and more of them are the same family.
func TestMediaInputs(t *testing.T) {
	a, b := step.Sum([]byte("a")), step.Sum([]byte("b"))
	s := step.Step{Inputs: map[string]step.Input{}, Grows: &grows}
	showMedia(&s, nil)
	if s.Grows != &grows || len(s.Inputs) != 0 {
		t.Errorf("without media: %v", s.Inputs)
	}
	showMedia(&s, []spec.File{{Digest: a, Path: "x/a.png"}, {Digest: b, Path: "x/b.png"}, {Digest: a, Path: "x/c.png"}})
	if len(s.Inputs) != 2 || s.Inputs[mediaInput(b)].Path != "x/b.png" || len(s.Grows.Inputs) != 3 || len(grows.Inputs) != 1 {
		t.Errorf("inputs %v, of which grow %v", s.Inputs, s.Grows.Inputs)
	}
}
