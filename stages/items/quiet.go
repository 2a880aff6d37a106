package items

import (
	"errors"
	"fmt"
)

// errQuiet stands for what is wrong with a line whose text may not be quoted.
var errQuiet = errors.New("the line is not an item; what is wrong with it is not quoted, since it is held out")

// WithoutText drops from an error of Read what it says about a line: it may
// quote the line, and held-out texts are quoted nowhere. Errors of reading
// itself, and of the function that was called, stay as they are.
func WithoutText(err error) error {
	line, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	if errors.Is(err, errRead) {
		// The chain below holds no text: it is about the file.
		return fmt.Errorf("%s: %w", line.Name, line.Err)
	}
	return &Error{line.Name, line.Line, errQuiet}
}
