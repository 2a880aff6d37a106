package step

import (
	"encoding/json"
	"errors"
	"fmt"
)

// WriteJSON writes v as one output in RFC 8785 form: the same value, the same
// bytes.
func WriteJSON(job Job, output string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("output %s: %w", output, err)
	}
	if b, err = Canonical(b); err != nil {
		return fmt.Errorf("output %s: %w", output, err)
	}
	return Write(job, output, "application/json", b)
}

// Write writes b as one output.
func Write(job Job, output, mediaType string, b []byte) error {
	w, err := job.Create(output, mediaType)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return errors.Join(err, w.Close())
}
