package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/pin"
)

// session is an open endpoint with the pin that it was checked against.
type session struct {
	Endpoint
	pin evidence.PinDoc
}

// recheck observes the endpoint again. An interrupt is reported as one, and not
// as an endpoint that cannot be reached.
func (s *session) recheck(ctx context.Context) error {
	err := pin.Recheck(ctx, s, s.pin)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// encode writes v as one line of JSON without its end. HTML characters stay as
// they are: the text of an answer is read by people too.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// lines writes an output of one JSON value a line.
type lines struct {
	w   io.WriteCloser
	err error
}

func createLines(job step.Job, name string) (*lines, error) {
	w, err := job.Create(name, "application/jsonl")
	return &lines{w: w}, err
}

// put writes one encoded value; after an error it does nothing.
func (l *lines) put(line []byte) {
	if l.err != nil {
		return
	}
	_, l.err = l.w.Write(append(line[:len(line):len(line)], '\n'))
}

// close finishes the output and returns the first error of all.
func (l *lines) close() error {
	err := l.w.Close()
	if l.err != nil {
		return l.err
	}
	return err
}
