package scrape

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/promtext"
)

// Bounds of one metrics text. A text beyond maxBytes or maxSamples is refused;
// a line beyond the others is skipped with a note.
const (
	maxBytes   = 8 << 20
	maxSamples = 200_000
	maxLine    = 64 << 10
	maxNotes   = 20 // notes kept; further ones are only counted
)

// errTooLarge is returned for a metrics text beyond maxBytes or maxSamples.
var errTooLarge = errors.New("metrics text is too large")

// snapshot is one metrics text, read.
type snapshot struct {
	Samples []sample          // in the order of the text
	Types   map[string]string // declared type by metric family: counter, gauge, histogram, ...
	Notes   []note            // why lines were skipped, at most maxNotes
	Skipped int               // lines that could not be read
}

type (
	sample = promtext.Sample
	label  = promtext.Label
)

// note says why a line was skipped.
type note struct {
	Line int // 1-based
	What string
}

func (n note) String() string { return fmt.Sprintf("line %d: %s", n.Line, n.What) }

// parse reads a metrics text. A line that cannot be read is skipped and noted
// with its number; the others count. The error is only ever [errTooLarge],
// wrapped; the snapshot then has what was read until there.
func parse(body []byte) (snapshot, error) {
	if len(body) > maxBytes {
		return snapshot{}, fmt.Errorf("%w: %d bytes, at most %d are read; is this a /metrics endpoint?", errTooLarge, len(body), maxBytes)
	}
	snap := snapshot{Types: map[string]string{}}
	text := string(body)
	for n := 1; text != ""; n++ {
		line, rest, ended := strings.Cut(text, "\n")
		text = rest
		line = strings.Trim(line, " \t\r")
		switch {
		case line == "":
		case line == "# EOF":
			if strings.TrimSpace(text) != "" {
				snap.skip(n+1, "text after # EOF")
			}
			return snap, nil
		case !ended:
			// 0.0.4 ends every line and OpenMetrics ends in # EOF, so the number on
			// this line may have lost digits.
			snap.skip(n, "the text ends within the line: it was cut off")
		case len(line) > maxLine:
			snap.skip(n, fmt.Sprintf("%d bytes long, at most %d are read", len(line), maxLine))
		case line[0] == '#':
			snap.comment(n, line)
		default:
			if err := snap.add(n, line); err != nil {
				return snap, err
			}
		}
	}
	return snap, nil
}

func (s *snapshot) add(n int, line string) error {
	sample, err := promtext.Parse(line)
	if err != nil {
		s.skip(n, err.Error())
		return nil
	}
	if len(s.Samples) == maxSamples {
		return fmt.Errorf("%w: line %d: more than %d samples", errTooLarge, n, maxSamples)
	}
	s.Samples = append(s.Samples, sample)
	return nil
}

// comment takes the declared types; HELP, UNIT and free comments say nothing
// that is computed with.
func (s *snapshot) comment(n int, line string) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "#" || words[1] != "TYPE" {
		return
	}
	if len(words) != 4 || len(words[2]) > promtext.MaxName {
		s.skip(n, "TYPE needs a metric name and a type")
		return
	}
	family := strings.Trim(words[2], `"`)
	if _, twice := s.Types[family]; !twice {
		s.Types[family] = strings.ToLower(words[3])
	}
}

func (s *snapshot) skip(n int, what string) {
	s.Skipped++
	if len(s.Notes) < maxNotes {
		s.Notes = append(s.Notes, note{Line: n, What: what})
	}
}
