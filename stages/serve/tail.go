package serve

import (
	"io"
	"os"
	"strings"
	"sync"
)

const (
	tailBytes = 64 << 10 // of a log that are remembered
	tailLines = 40       // that a finding shows
	lineBytes = 400      // of a line that it shows
)

// tail remembers the end of what was written to it.
type tail struct {
	file string // the log itself, when another process writes it

	mu sync.Mutex
	b  []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if cut := len(t.b) - tailBytes; cut > 0 {
		t.b = append(t.b[:0], t.b[cut:]...)
	}
	return len(p), nil
}

// text is the end of the log.
func (t *tail) text() string {
	if t.file == "" {
		t.mu.Lock()
		defer t.mu.Unlock()
		return string(t.b)
	}
	f, err := os.Open(t.file)
	if err != nil {
		return ""
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > tailBytes {
		_, _ = f.Seek(-tailBytes, io.SeekEnd)
	}
	b, _ := io.ReadAll(io.LimitReader(f, tailBytes))
	return string(b)
}

// last joins the last n lines that say something.
func (p *process) last(n int) string { return strings.Join(lastLines(p.tail.text(), n), " | ") }

// tail is the end of a log as a finding shows it.
func (h *Hooks) tail(p *process) []string {
	return lastLines(h.redact(p.tail.text()), tailLines)
}

// lastLines are the last n lines that say something, each cut to what fits.
func lastLines(text string, n int) []string {
	out := []string{}
	for line := range strings.Lines(text) {
		if line = printable(line); line != "" {
			out = append(out, line)
		}
	}
	return out[max(0, len(out)-n):]
}
