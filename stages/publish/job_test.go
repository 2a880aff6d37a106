package publish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/engine/step"
)

// fakeJob is a step.Job in memory; what it does not need is absent.
type fakeJob struct {
	step.Job
	def     step.Step
	inputs  map[string][]byte
	outputs map[string]*output
}

type output struct {
	bytes.Buffer
	mediaType string
	closed    bool
}

func (o *output) Close() error { o.closed = true; return nil }

func (j *fakeJob) Params(v any) error {
	d := json.NewDecoder(bytes.NewReader(j.def.Params))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func (j *fakeJob) Open(name string) (io.ReadCloser, error) {
	b, ok := j.inputs[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, step.ErrNoInput)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (j *fakeJob) InputDigest(name string) step.Digest {
	b, ok := j.inputs[name]
	if !ok {
		return step.Digest{}
	}
	return step.Sum(b)
}

func (j *fakeJob) Create(name, mediaType string) (io.WriteCloser, error) {
	if j.outputs == nil {
		j.outputs = map[string]*output{}
	}
	j.outputs[name] = &output{mediaType: mediaType}
	return j.outputs[name], nil
}
