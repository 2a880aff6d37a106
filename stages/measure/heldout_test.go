package measure

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Of a held-out item no error, log, journal or row says a word, but for the
// answers; and these say that they are such.
func TestHeldOut(t *testing.T) {
	held := quality(func(q *spec.Quality) { q.Split, q.Retries = spec.SplitHeldOut, 0 })
	quoting := func(status int, class llm.Class) func(context.Context, llm.Request) llm.Response {
		return func(ctx context.Context, r llm.Request) llm.Response {
			if asked := r.Messages[1].Content; strings.Contains(asked, "<2>") {
				return failing(llm.Failure{Class: class, Status: status, Message: "cannot answer " + asked})
			}
			return echo(ctx, r)
		}
	}
	job := generateJob(t, held, suite(5))
	err := generate(t, job, endpoint(quoting(500, llm.ClassServerError)))
	if !errors.Is(err, step.ErrOutside) || strings.Contains(err.Error(), "question") || !strings.Contains(err.Error(), "is not kept") {
		t.Errorf("%v", err)
	}
	job = generateJob(t, held, suite(5))
	if err := generate(t, job, endpoint(quoting(400, llm.ClassRejected))); err != nil {
		t.Fatal(err)
	}
	for i, r := range rows[evidence.ResponseRow](t, job.Output(evidence.OutResponses)) {
		if !r.HeldOut || (r.Failure != nil) != (i == 2) || r.Failure != nil && strings.Contains(r.Failure.Message, "question") {
			t.Errorf("%+v, %+v", r, r.Failure)
		}
	}
	broken := generateJob(t, held, append(suite(2), `{"id":"x","input":"secret","answer":{"secret"`...))
	err = Generate{Dial: dial(endpoint(echo))}.Run(t.Context(), broken)
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "items.jsonl:3: ") {
		t.Errorf("%v", err)
	}
	if key := string(generateJob(t, quality(), nil).S.Params); strings.Contains(key, "split") {
		t.Errorf("what is not held out has another key: %s", key)
	}
}
