package scrape

import (
	"errors"
	"fmt"
	"strings"
)

// Bounds of one metrics text. A text beyond MaxBytes or MaxSamples is refused;
// a line beyond the others is skipped with a note.
const (
	MaxBytes      = 8 << 20
	MaxSamples    = 200_000
	MaxLine       = 64 << 10
	MaxName       = 512
	MaxLabels     = 64
	MaxLabelValue = 16 << 10
	MaxNotes      = 20 // notes kept; further ones are only counted
)

// ErrTooLarge is returned for a metrics text beyond MaxBytes or MaxSamples.
var ErrTooLarge = errors.New("metrics text is too large")

// Snapshot is one metrics text, read.
type Snapshot struct {
	Samples []Sample          // in the order of the text
	Types   map[string]string // declared type by metric family: counter, gauge, histogram, ...
	Notes   []Note            // why lines were skipped, at most MaxNotes
	Skipped int               // lines that could not be read
}

// Sample is one line: a name, its labels and a value, which may be NaN or an
// infinity. Time stamps and exemplars are read over.
type Sample struct {
	Name   string
	Labels []Label
	Value  float64
}

// Label is one label of a sample, its value unescaped.
type Label struct{ Name, Value string }

// Note says why a line was skipped.
type Note struct {
	Line int // 1-based
	What string
}

func (n Note) String() string { return fmt.Sprintf("line %d: %s", n.Line, n.What) }

// labelValue is "" for a label that is not there: as in PromQL, an empty label
// and a missing one are the same.
func labelValue(labels []Label, name string) string {
	for _, l := range labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// Parse reads a metrics text. A line that cannot be read is skipped and noted
// with its number; the others count. The error is only ever [ErrTooLarge],
// wrapped; the snapshot then has what was read until there.
func Parse(body []byte) (Snapshot, error) {
	if len(body) > MaxBytes {
		return Snapshot{}, fmt.Errorf("%w: %d bytes, at most %d are read; is this a /metrics endpoint?", ErrTooLarge, len(body), MaxBytes)
	}
	snap := Snapshot{Types: map[string]string{}}
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
		case len(line) > MaxLine:
			snap.skip(n, fmt.Sprintf("%d bytes long, at most %d are read", len(line), MaxLine))
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

func (s *Snapshot) add(n int, line string) error {
	sample, err := parseSample(line)
	if err != nil {
		s.skip(n, err.Error())
		return nil
	}
	if len(s.Samples) == MaxSamples {
		return fmt.Errorf("%w: line %d: more than %d samples", ErrTooLarge, n, MaxSamples)
	}
	s.Samples = append(s.Samples, sample)
	return nil
}

// comment takes the declared types; HELP, UNIT and free comments say nothing
// that is computed with.
func (s *Snapshot) comment(n int, line string) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "#" || words[1] != "TYPE" {
		return
	}
	if len(words) != 4 || len(words[2]) > MaxName {
		s.skip(n, "TYPE needs a metric name and a type")
		return
	}
	family := strings.Trim(words[2], `"`)
	if _, twice := s.Types[family]; !twice {
		s.Types[family] = strings.ToLower(words[3])
	}
}

func (s *Snapshot) skip(n int, what string) {
	s.Skipped++
	if len(s.Notes) < MaxNotes {
		s.Notes = append(s.Notes, Note{Line: n, What: what})
	}
}
