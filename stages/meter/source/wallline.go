package source

import (
	"errors"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/stages/meter/parse"
)

// maxWallLine bounds a line of a wall meter, and maxWatts what one can read.
const (
	maxWallLine = 4 << 10
	maxWatts    = 10_000_000
)

// wallLines understands what a wall meter's program writes, line by line: either
// "<moment|-> <watts>", or CSV whose first line names a column of time and one of
// watts. The zero value is ready.
type wallLines struct {
	comma       rune // 0 = the line protocol
	time, power int  // columns
	scale       int  // of the power column, to W
	begun       bool
}

var errWallLine = errors.New("want <unix seconds|-> <watts>, or the columns of the first line")

// read returns the power in mW and its moment, ns since 1970; 0 = when it arrived.
// ok is false for a line without a value: an empty one, a comment, a header.
func (w *wallLines) read(line string) (mw, at int64, ok bool, err error) {
	line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
	if line == "" || strings.HasPrefix(line, "#") {
		return 0, 0, false, nil
	}
	if !w.begun {
		w.begun = true
		if w.header(line) {
			return 0, 0, false, nil
		}
	}
	moment, watts, scale, ok := w.split(line)
	if !ok {
		return 0, 0, false, errWallLine
	}
	if moment != "-" {
		if at, err = parse.Stamp(moment, nil); err != nil {
			return 0, 0, false, err
		}
	}
	mw, err = parse.Decimal(watts, scale+3)
	if err == nil && (mw < 0 || mw > maxWatts*1000) {
		err = errWallLine
	}
	return mw, at, err == nil, err
}

// header reports whether a line names the columns.
func (w *wallLines) header(line string) bool {
	comma := parse.Delimiter(line)
	cells, _ := parse.Cells(line, comma)
	w.time, w.power = -1, -1
	for i, cell := range cells {
		switch c := parse.ReadColumn(cell); {
		case c.Kind == parse.Time && w.time < 0:
			w.time = i
		case c.Kind == parse.Power && w.power < 0:
			w.power, w.scale = i, c.Scale
		}
	}
	if w.time < 0 || w.power < 0 {
		return false
	}
	w.comma = comma
	return true
}

func (w *wallLines) split(line string) (moment, watts string, scale int, ok bool) {
	if w.comma == 0 {
		f := strings.Fields(line)
		if len(f) != 2 {
			return "", "", 0, false
		}
		return f[0], f[1], 0, true
	}
	cells, ok := parse.Cells(line, w.comma)
	if !ok || len(cells) <= max(w.time, w.power) {
		return "", "", 0, false
	}
	return cells[w.time], parse.Point(cells[w.power], w.comma), w.scale, true
}

// value is what a wall meter said last.
type value struct {
	mw int64
	at time.Time // its own moment, or when it arrived
}
