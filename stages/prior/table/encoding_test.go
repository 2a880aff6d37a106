package table

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

func utf16Of(order binary.AppendByteOrder, text string) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

const accents = "model,tok/s\nM\u00e9lusine \U0001f680,5\n"

// UTF-16 that says so is read as what it is, in both orders.
func TestUTF16(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		tables, problems, err := Read("csv", utf16Of(order, accents))
		if err != nil || len(problems) > 0 || len(tables) != 1 || tables[0].Rows[0].Cells[0] != "M\u00e9lusine \U0001f680" {
			t.Errorf("%v: %+v %v %v", order, tables, problems, err)
		}
	}
}

// What is no UTF-8 is refused in every format, with the line and what to do.
func TestEncodingRefused(t *testing.T) {
	latin, err := charmap.ISO8859_1.NewEncoder().Bytes([]byte("model,tok/s\nM\u00e9lusine,5\n"))
	if err != nil {
		t.Fatal(err)
	}
	little := utf16Of(binary.LittleEndian, accents)
	for name, c := range map[string]struct {
		src  []byte
		want string
	}{
		"latin-1":         {latin, "line 2: the byte 0xe9 is not UTF-8"},
		"no mark":         {little[2:], "line 2: the byte 0xe9 is not UTF-8"},
		"no mark, ASCII":  {utf16Of(binary.LittleEndian, "model,tok/s\na,5\n")[2:], "as in UTF-16 without a byte order mark"},
		"UTF-32":          {[]byte("\xff\xfe\x00\x00m\x00\x00\x00"), "or UTF-32"},
		"odd":             {little[:len(little)-1], "ends within a character"},
		"half":            {append(utf16Of(binary.LittleEndian, "a\n"), 0x00, 0xd8, 'a', 0), "line 2: half a character"},
		"half at the end": {append(utf16Of(binary.LittleEndian, "a\n"), 0x00, 0xd8), "line 2: half a character"},
	} {
		for format := range Formats {
			if _, _, err := Read(format, c.src); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "iconv") {
				t.Errorf("%s as %s: %v", name, format, err)
			}
		}
	}
}

func TestDuplicateNameIsNamed(t *testing.T) {
	_, _, err := Read("json", []byte("[{\"model\": \"a\",\n \"x\": {\"t~/s\": 1, \"t~/s\": 2}}]"))
	if err == nil || !strings.Contains(err.Error(), `line 2: the name "t~/s" stands twice`) {
		t.Errorf("%v", err)
	}
	_, problems, _ := Read("jsonl", []byte("{\"model\": \"a\", \"model\": \"b\"}\n"))
	if len(problems) != 1 || !strings.Contains(problems[0].Reason, `the name "model" stands twice`) {
		t.Errorf("%+v", problems)
	}
}
