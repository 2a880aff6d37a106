package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

// errStalled is why a body that went silent was given up.
var errStalled = errors.New("nothing arrived any more")

// watched is a body that ends when nothing arrives for a while.
type watched struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	idle   time.Duration
	timer  *time.Timer
}

func newWatched(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser, idle time.Duration) *watched {
	return &watched{ctx, cancel, body, idle, time.AfterFunc(idle, func() { cancel(fmt.Errorf("%w for %v", errStalled, idle)) })}
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	w.timer.Reset(w.idle)
	if err != nil && err != io.EOF {
		if cause := context.Cause(w.ctx); errors.Is(cause, errStalled) {
			err = cause
		}
		err = &Broken{err}
	}
	return n, err
}

func (w *watched) Close() error {
	w.timer.Stop()
	err := w.body.Close()
	w.cancel(nil)
	return err
}

// discard ends an answer that nobody reads; a short one leaves its connection
// usable.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 16<<10)
	_ = resp.Body.Close()
}

// ReadAll reads at most limit bytes and closes the body; a longer one is an error.
func (r *Response) ReadAll(limit int64) ([]byte, error) {
	defer r.Body.Close()
	if err := r.Plain(); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: answer cut off after %d bytes: %w", place(r.URL), len(b), err)
	case int64(len(b)) > limit:
		return nil, fmt.Errorf("%s: answer of more than %d bytes", place(r.URL), limit)
	}
	return b, nil
}

// Plain says that an answer is encoded although it was asked for as it is: then
// its bytes are not those of the file.
func (r *Response) Plain() error {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return step.WithHint(fmt.Errorf("%s answers with Content-Encoding %s, where the file as it is was asked for", place(r.URL), Words(enc, "")), "a proxy may compress what it passes on: use another network, or another server")
	}
	return nil
}

// Place is where the answer came from, without the query.
func (r *Response) Place() string { return place(r.URL) }
