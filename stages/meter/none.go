package meter

import (
	"io"

	"github.com/cupel-dev/cupel/stages/trace"
)

// None writes the trace of a place without a meter: one line, which says why.
func None(w io.Writer, code, detail string) error {
	out, err := trace.NewWriter(w, trace.Header{Meter: "cupel", Made: "sample", None: &trace.Missing{Reason: code, Detail: detail}})
	if err != nil {
		return err
	}
	return out.Flush()
}
