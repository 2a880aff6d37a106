package foreign

import (
	"strings"

	"github.com/cupel-dev/cupel/stages/llm"
)

// failed is why an answer has no usable output.
func failed(class llm.Class, message string) *llm.Failure {
	return &llm.Failure{Class: class, Message: clip(message, 2048)}
}

func clip(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
