package main

import (
	"fmt"
	"strings"
	"unicode"
)

// printable escapes what a terminal would act on, in texts that come from files
// which somebody else made.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
