package parse

import (
	"encoding/csv"
	"strings"
)

// Cells splits one line of CSV, without the spaces around its cells. ok is false when
// its quotes do not match: a cell does not go over several lines.
func Cells(line string, comma rune) (cells []string, ok bool) {
	if !strings.Contains(line, `"`) {
		cells = strings.Split(line, string(comma))
	} else {
		r := csv.NewReader(strings.NewReader(line))
		r.Comma, r.TrimLeadingSpace = comma, true
		var err error
		if cells, err = r.Read(); err != nil {
			return nil, false
		}
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells, true
}

// Point writes the decimal comma of files with semicolons or tabs as a point.
func Point(number string, comma rune) string {
	if comma == ',' {
		return number
	}
	return strings.Replace(number, ",", ".", 1)
}
