package suite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// Log is the access log of a set as it was read.
type Log struct {
	Openings   []Access // oldest first
	Unreadable int      // lines that cannot be read; they are openings too
	Broken     []int    // lines, from 1, that do not follow the line before them

	lines []step.Digest // of every line, without its end
}

// Mark says how far a log went when somebody looked. Whoever keeps it can tell
// later whether lines were taken from its end, which the log alone cannot.
type Mark struct {
	Lines int         `json:"lines"`
	Last  step.Digest `json:"last"` // of the last of them
}

// AccessLog reads the openings of the held-out part.
func (s *Set) AccessLog() (Log, error) {
	if s.dir == "" {
		return Log{}, nil
	}
	b, err := os.ReadFile(filepath.Join(s.dir, AccessFile))
	if errors.Is(err, os.ErrNotExist) {
		return Log{}, nil
	}
	return parseLog(b), err
}

func parseLog(b []byte) (log Log) {
	chained := false
	for l := range bytes.Lines(b) {
		l = bytes.TrimSuffix(l, []byte("\n"))
		read := false
		err := items.ReadRows(AccessFile, bytes.NewReader(l), func(a Access) error {
			log.Openings = append(log.Openings, a)
			// Logs of earlier versions begin with lines that are not chained.
			chained = chained || a.Prev != nil
			if chained && !log.follows(a.Prev) {
				log.Broken = append(log.Broken, len(log.lines)+1)
			}
			read = true
			return nil
		})
		if err != nil || !read {
			log.Unreadable++
		}
		log.lines = append(log.lines, step.Sum(l))
	}
	return log
}

func (l *Log) follows(prev *step.Digest) bool {
	n := len(l.lines)
	return prev != nil && n > 0 && *prev == l.lines[n-1]
}

// Mark says how far the log goes.
func (l *Log) Mark() Mark {
	m := Mark{Lines: len(l.lines)}
	if m.Lines > 0 {
		m.Last = l.lines[m.Lines-1]
	}
	return m
}

// Doubts says in sentences what is wrong with the log, also against a mark that
// was kept earlier; the zero mark says nothing.
func (l *Log) Doubts(kept Mark) []string {
	var out []string
	if len(l.Broken) > 0 {
		out = append(out, fmt.Sprintf("%s: line %d does not follow the line before it: lines were changed, removed or put in", AccessFile, l.Broken[0]))
	}
	if l.Unreadable > 0 {
		out = append(out, fmt.Sprintf("%s: %d line(s) cannot be read", AccessFile, l.Unreadable))
	}
	switch now := len(l.lines); {
	case kept.Lines > now:
		out = append(out, fmt.Sprintf("%s held %d opening(s) when they were last counted here, and holds %d: openings were removed", AccessFile, kept.Lines, now))
	case kept.Lines > 0 && l.lines[kept.Lines-1] != kept.Last:
		out = append(out, fmt.Sprintf("%s: line %d is not the one that was last seen here: openings were changed or removed", AccessFile, kept.Lines))
	}
	return out
}
