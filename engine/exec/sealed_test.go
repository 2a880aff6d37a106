package exec

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/step"
)

// A sealed input is what it is decrypted to, wherever and however often it was
// encrypted, and it leaves nothing in the store.
func TestSealedInput(t *testing.T) {
	f := setup(t)
	const text = "what is asked"
	s := mk("measure/a", false)
	s.Inputs["items"] = step.Input{Blob: step.Sum([]byte(text)), Path: "one.age", Sealed: true}
	f.w.say["measure/a"] = "an answer"

	out := f.run(s)
	if err := out.Failures()[0].Err; !strings.Contains(err.Error(), "one.age is encrypted, and nothing here opens it") {
		t.Error(err)
	}
	locked := errors.New("locked")
	f.e.Unseal = func(string, step.Input) (io.ReadCloser, error) { return nil, locked }
	if err := f.run(s).Failures()[0].Err; !errors.Is(err, locked) {
		t.Error(err)
	}
	f.e.Unseal = func(string, step.Input) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("something else")), nil
	}
	if err := f.run(s).Failures()[0].Err; !strings.Contains(err.Error(), "measure/a: input items: the content has digest ") {
		t.Error(err)
	}
	f.w.take()

	var runs []string
	f.e.Unseal = func(run string, in step.Input) (io.ReadCloser, error) {
		runs = append(runs, run)
		return io.NopCloser(strings.NewReader(text)), nil
	}
	out = f.run(s)
	f.states(out, Done)
	f.ran("measure/a")
	if len(runs) != 1 || runs[0] != out.RunID {
		t.Errorf("opened for %v, want run %s", runs, out.RunID)
	}
	if f.e.Store.Has(step.Sum([]byte(text))) {
		t.Error("the text is in the store")
	}
	in := s.Inputs["items"]
	in.Path = "for-another-recipient.age"
	s.Inputs["items"] = in
	f.e.Unseal = nil
	f.states(f.run(s), Cached)
}
