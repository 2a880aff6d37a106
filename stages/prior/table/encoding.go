package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cupel-dev/cupel/engine/step"
)

// reencode says what to do about a text that cannot be read.
const reencode = "save it as UTF-8, or convert it with iconv -f ENCODING -t UTF-8 FILE > NEW, where ENCODING is what wrote it, such as ISO-8859-1, WINDOWS-1252 or UTF-16LE"

// decoded returns a file as UTF-8: as it is, or from UTF-16 that says so with a
// byte order mark. Anything else is refused, since a letter that is guessed may
// stand in the name of a model.
func decoded(src []byte) ([]byte, error) {
	out, err := src, error(nil)
	switch {
	case bytes.HasPrefix(src, []byte{0xff, 0xfe}):
		out, err = fromUTF16(src[2:], binary.LittleEndian)
	case bytes.HasPrefix(src, []byte{0xfe, 0xff}):
		out, err = fromUTF16(src[2:], binary.BigEndian)
	default:
		err = checkUTF8(src)
	}
	if err == nil && 4*bytes.Count(out, []byte{0}) > len(out) {
		err = errors.New("more than a quarter of it are zero bytes, as in UTF-16 without a byte order mark, or UTF-32")
	}
	if err != nil {
		return nil, step.WithHint(err, reencode)
	}
	return out, nil
}

// fromUTF16 refuses half a character, which would otherwise become another one.
func fromUTF16(src []byte, order binary.ByteOrder) ([]byte, error) {
	if len(src)%2 != 0 {
		return nil, errors.New("it begins as UTF-16 does and ends within a character")
	}
	out, line := make([]byte, 0, len(src)), 1
	for i := 0; i < len(src); i += 2 {
		r := rune(order.Uint16(src[i:]))
		if utf16.IsSurrogate(r) {
			var low rune
			if i += 2; i < len(src) {
				low = rune(order.Uint16(src[i:]))
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return nil, fmt.Errorf("line %d: half a character of UTF-16", line)
			}
		}
		if r == '\n' {
			line++
		}
		out = utf8.AppendRune(out, r)
	}
	return out, nil
}

func checkUTF8(src []byte) error {
	if utf8.Valid(src) {
		return nil
	}
	at := 0
	for {
		r, n := utf8.DecodeRune(src[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return fmt.Errorf("line %d: the byte 0x%02x is not UTF-8", 1+bytes.Count(src[:at], []byte("\n")), src[at])
}
