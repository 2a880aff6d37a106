package foreign

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/stages/llm"
)

// batchRow is one line of a batch's output or error file.
type batchRow struct {
	CustomID jsontext.Value `json:"custom_id"`
	Response *struct {
		Status int            `json:"status_code"`
		Body   jsontext.Value `json:"body"`
	} `json:"response"`
	Error jsontext.Value `json:"error"`
}

// parseBatch reads one request of a batch. Its id is the custom_id, which a
// batch has once; the lines stand in any order.
func parseBatch(line []byte, o Options) ([]Row, error) {
	var b batchRow
	plain, err := decode(line, &b)
	if err != nil {
		return nil, err
	}
	base := Row{notJSON: !plain}
	if err := setID(&base, line, o, "custom_id"); err != nil {
		return nil, err
	}
	switch {
	case !isNull(b.Error):
		base.Failure = failed(ClassToolError, message(b.Error))
		return []Row{base}, nil
	case b.Response == nil:
		return nil, errors.New("the row has neither a response nor an error")
	case b.Response.Status != 200:
		base.Failure = failed(classOf(b.Response.Status), httpMessage(b.Response.Body))
		base.Failure.Status = b.Response.Status
		return []Row{base}, nil
	}
	var body completion
	if _, err := decode(b.Response.Body, &body); err != nil {
		return nil, fmt.Errorf("response.body: %w", err)
	}
	return body.rows(base)
}

func httpMessage(body jsontext.Value) string {
	if e, err := field(body, "error"); err == nil && !isNull(e) {
		return message(e)
	}
	return clip(string(body), 200)
}

// classOf is the failure class of an HTTP status, as a campaign gives it.
func classOf(status int) llm.Class {
	switch {
	case status == 429 || status == 503:
		return llm.ClassOverload
	case status == 401 || status == 403:
		return llm.ClassAuth
	case status == 404:
		return llm.ClassNotFound
	case status >= 500:
		return llm.ClassServerError
	}
	return llm.ClassRejected
}
