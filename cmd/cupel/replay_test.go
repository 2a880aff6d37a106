package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/engine/exec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/engine/store"
)

func TestCompareStep(t *testing.T) {
	s, err := store.Open(filepath.Join(t.TempDir(), "s"), store.Options{Mode: store.ReadWrite})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	keyOf := func(revision int, params string) (step.Key, []byte) {
		pre, err := step.NewPreimage(step.Step{Name: "score/a", Kind: "score", Revision: revision, Params: []byte(params)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := pre.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		return step.KeyOf(b), b
	}
	out := func(text string) []store.Output {
		d, err := s.PutBytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return []store.Output{{Name: "scores", Digest: d, Size: int64(len(text))}}
	}
	key, pre := keyOf(1, "{}")
	then := store.Record{Kind: "score", Name: "score/a", Outcome: store.Done, Outputs: out("then")}
	if err := s.PutRecord(key, pre, then); err != nil {
		t.Fatal(err)
	}
	p := &past{s: s, records: map[step.Key]store.Record{key: then}, byName: map[string]step.Key{"score/a": key}}
	newRevision, _ := keyOf(2, "{}")
	newParams, _ := keyOf(1, `{"tol":1}`)
	for name, c := range map[string]struct {
		step     step.Step
		state    exec.State
		key      step.Key
		outputs  []store.Output
		err      error
		want     string
		wantNote string
	}{
		"the same":                    {step.Step{Name: "score/a", Revision: 1}, exec.Done, key, out("then"), nil, replaySame, ""},
		"the same inputs elsewhere":   {step.Step{Name: "score/b", Revision: 1}, exec.Cached, key, out("then"), nil, replaySame, ""},
		"another output":              {step.Step{Name: "score/a", Revision: 1}, exec.Done, key, out("now"), nil, replayDiffers, "scores was "},
		"an output less":              {step.Step{Name: "score/a", Revision: 1}, exec.Done, key, nil, nil, replayDiffers, "scores is gone"},
		"an output more":              {step.Step{Name: "score/a", Revision: 1}, exec.Done, key, append(out("then"), store.Output{Name: "x"}), nil, replayDiffers, "x is new"},
		"skipped now":                 {step.Step{Name: "score/a", Revision: 1}, exec.Skipped, key, nil, nil, replayDiffers, "scores is gone"},
		"a revision, the same output": {step.Step{Name: "score/a", Revision: 2}, exec.Done, newRevision, out("then"), nil, replaySame, "revision 2 of score was 1"},
		"a revision, another output":  {step.Step{Name: "score/a", Revision: 2}, exec.Done, newRevision, out("now"), nil, replayOtherwise, "revision 2 of score was 1"},
		"other parameters":            {step.Step{Name: "score/a", Revision: 1, Params: []byte(`{"tol":1}`)}, exec.Done, newParams, out("now"), nil, replayOtherwise, "its parameters are others"},
		"other inputs":                {step.Step{Name: "score/a", Revision: 1}, exec.Done, step.Key{1}, out("now"), nil, replayOtherwise, otherInputs},
		"a step of this version":      {step.Step{Name: "score/c", Revision: 1}, exec.Done, newParams, out("now"), nil, replayNew, ""},
		"skipped then and now":        {step.Step{Name: "score/c", Revision: 1}, exec.Skipped, step.Key{}, nil, nil, replaySame, ""},
		"failed":                      {step.Step{Name: "score/a", Revision: 1}, exec.Failed, key, nil, errors.New("score/a: locked"), replayNot, "locked"},
		"blocked":                     {step.Step{Name: "score/a", Revision: 1}, exec.Blocked, step.Key{}, nil, nil, replayNot, ""},
	} {
		got := p.compareStep(exec.Result{Step: c.step, State: c.state, Key: c.key, Outputs: c.outputs, Err: c.err})
		if got.Outcome != c.want || !strings.Contains(got.Note, c.wantNote) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Other inputs refute, unless something before is derived in another way.
func TestSettleInputs(t *testing.T) {
	inputs, params := replayRow{Outcome: replayOtherwise, inputs: true}, replayRow{Outcome: replayOtherwise}
	if row, revised := settleInputs(inputs, false); row.Outcome != replayDiffers || revised {
		t.Errorf("%+v %v", row, revised)
	}
	if row, revised := settleInputs(params, false); row.Outcome != replayOtherwise || !revised {
		t.Errorf("%+v %v", row, revised)
	}
	if row, revised := settleInputs(inputs, true); row.Outcome != replayOtherwise || !revised {
		t.Errorf("%+v %v", row, revised)
	}
}

func TestReplayCode(t *testing.T) {
	for _, c := range []struct {
		count map[string]int
		want  exitCode
	}{
		{map[string]int{replaySame: 9}, exitOK},
		{map[string]int{replaySame: 9, replayNew: 1}, exitUndetermined},
		{map[string]int{replaySame: 9, replayNot: 1}, exitUndetermined},
		{map[string]int{replayOtherwise: 1, replayDiffers: 1}, exitFailed},
	} {
		if got := replayCode(c.count); got != c.want {
			t.Errorf("%v: %d", c.count, got)
		}
	}
}
