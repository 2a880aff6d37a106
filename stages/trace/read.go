package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// Limits of what is read. Ten minutes of eight GPUs at 20 looks a second are about
// a million samples.
const (
	MaxLine     = 256 << 10
	MaxDevices  = 256
	MaxChannels = 4096
	MaxSamples  = 20_000_000
	MaxNotes    = 1_000_000 // states, syncs and offsets, each
)

// Error is a line that is not as it should be.
type Error struct {
	Line int // from 1
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// Read reads a whole trace. A recording that was cut, be it in the middle of its
// last line, is read up to there, and has no End. Any other damage is an *Error.
func Read(r io.Reader) (*Trace, error) {
	rd := &reader{in: bufio.NewReaderSize(r, 64<<10)}
	if err := rd.header(); err != nil {
		return nil, err
	}
	for {
		line, err := rd.next()
		switch {
		case err == io.EOF:
			return &rd.Trace, nil
		case err != nil:
			return nil, err
		case rd.End != nil:
			return nil, rd.fail("there is something after the end")
		}
		if err := rd.line(line); err != nil {
			return nil, err
		}
	}
}

type reader struct {
	Trace
	in  *bufio.Reader
	buf []byte
	n   int // lines read
	all int // samples

	reasons []string
}

func (r *reader) fail(format string, args ...any) error {
	return &Error{Line: r.n, Msg: fmt.Sprintf(format, args...)}
}

// next returns a line without its end. One that is not ended is no line: what
// wrote it was stopped in the middle of it.
func (r *reader) next() ([]byte, error) {
	r.buf = r.buf[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		r.buf = append(r.buf, part...)
		switch {
		case len(r.buf) > MaxLine:
			r.n++
			return nil, r.fail("longer than %d bytes", MaxLine)
		case err == nil:
			r.n++
			return r.buf[:len(r.buf)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // io.EOF too: what stands in buf was cut
		}
	}
}

func (r *reader) header() error {
	line, err := r.next()
	if err == io.EOF {
		r.n = 1
		return r.fail("there is no header")
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, &r.Header); err != nil {
		return r.fail("the header is not JSON of the form that is expected: %v", short(err))
	}
	if r.Schema != Schema {
		return r.fail("its schema is %q, and %s is read", clip(r.Schema), Schema)
	}
	if msg := r.Header.check(); msg != "" {
		return r.fail("%s", msg)
	}
	r.Samples = make([][]Sample, len(r.Channels))
	return nil
}

// Check returns what a reader would refuse in a header, but for its schema.
func (h *Header) Check() error {
	if msg := h.check(); msg != "" {
		return errors.New(msg)
	}
	return nil
}

// check returns what is wrong with a header, "" = nothing.
func (h *Header) check() string {
	switch {
	case !(h.Hz >= 0) || h.Hz > 1e6:
		return fmt.Sprintf("hz is %v", h.Hz)
	case len(h.Devices) > MaxDevices:
		return fmt.Sprintf("%d devices, at most %d", len(h.Devices), MaxDevices)
	case len(h.Channels) > MaxChannels:
		return fmt.Sprintf("%d channels, at most %d", len(h.Channels), MaxChannels)
	case h.Clock.ErrorNS < 0:
		return "the error of its clock is negative"
	case h.WallNS < 0:
		return "its wall clock is before 1970"
	}
	seen := map[string]bool{}
	for i, d := range h.Devices {
		switch {
		case !plain(d.ID) || seen[d.ID]:
			return fmt.Sprintf("device %d has no id of its own", i)
		case !slices.Contains([]string{GPU, CPU, Machine}, d.Kind):
			return fmt.Sprintf("device %d is of kind %q", i, clip(d.Kind))
		}
		seen[d.ID] = true
	}
	for i, c := range h.Channels {
		switch _, unit := Units[c.Unit]; {
		case !seen[c.Device]:
			return fmt.Sprintf("channel %d is of device %q, which is not there", i, clip(c.Device))
		case !unit:
			return fmt.Sprintf("channel %d has the unit %q", i, clip(c.Unit))
		case !plain(string(c.Domain)), !plain(string(c.Quantity)):
			return fmt.Sprintf("channel %d does not say what it is", i)
		case c.Range < 0:
			return fmt.Sprintf("channel %d has the range %d", i, c.Range)
		}
	}
	return ""
}

// plain reports whether s can be printed as one short word.
func plain(s string) bool {
	if s == "" || len(s) > 128 || !utf8.ValidString(s) {
		return false
	}
	for _, c := range s {
		if !unicode.IsGraphic(c) {
			return false
		}
	}
	return true
}

func (r *reader) line(b []byte) error {
	if t, c, v, ok := parseSample(b); ok {
		return r.sample(t, c, Sample{T: t, V: v})
	}
	var l Line
	if err := json.Unmarshal(b, &l); err != nil {
		return r.fail("not JSON of the form that is expected: %v", short(err))
	}
	n := 0
	for _, there := range []bool{l.Channel != nil, l.State != nil, l.Sync != nil, l.Offset != nil, l.End != nil} {
		if there {
			n++
		}
	}
	if n != 1 {
		return r.fail("it says %d things, and one is to be said", n)
	}
	switch {
	case l.Channel != nil && (l.V == nil) == (l.E == ""):
		return r.fail("a sample has a value or a reason")
	case l.Channel != nil && l.V != nil:
		return r.sample(l.T, int64(*l.Channel), Sample{T: l.T, V: *l.V})
	case l.Channel != nil:
		if !plain(l.E) {
			return r.fail("the reason %q", clip(l.E))
		}
		return r.sample(l.T, int64(*l.Channel), Sample{T: l.T, E: r.intern(l.E)})
	}
	return r.note(&l)
}

func (r *reader) note(l *Line) error {
	if err := r.at(l.T); err != nil {
		return err
	}
	if len(r.States)+len(r.Syncs)+len(r.Offsets) >= MaxNotes {
		return r.fail("more than %d notes", MaxNotes)
	}
	switch {
	case l.State != nil:
		if !r.device(l.State.Device) {
			return r.fail("the state of %q, which is not there", clip(l.State.Device))
		}
		r.States = append(r.States, Noted[State]{l.T, *l.State})
	case l.Sync != nil:
		r.Syncs = append(r.Syncs, Noted[int64]{l.T, *l.Sync})
	case l.Offset != nil:
		if l.Offset.Received < l.Offset.Sent {
			return r.fail("an answer that came before the question")
		}
		r.Offsets = append(r.Offsets, Noted[Offset]{l.T, *l.Offset})
	case l.End != nil:
		r.End = l.End
	}
	return nil
}

func (r *reader) device(id string) bool {
	return slices.ContainsFunc(r.Devices, func(d Device) bool { return d.ID == id })
}

// at checks that time goes on. Lines of different channels may be a little out of
// order, as what reads them may be several; see sample.
func (r *reader) at(t int64) error {
	if t < 0 || t > math.MaxInt64/4 {
		return r.fail("t is %d", t)
	}
	r.LastT = max(r.LastT, t)
	return nil
}

func (r *reader) sample(t, c int64, s Sample) error {
	if err := r.at(t); err != nil {
		return err
	}
	if c < 0 || c >= int64(len(r.Samples)) {
		return r.fail("channel %d of %d", c, len(r.Samples))
	}
	of := r.Samples[c]
	if n := len(of); n > 0 && of[n-1].T > t {
		return r.fail("channel %d goes back in time, from %d to %d", c, of[n-1].T, t)
	}
	if r.all++; r.all > MaxSamples {
		return r.fail("more than %d samples", MaxSamples)
	}
	r.Samples[c] = append(of, s)
	return nil
}

// intern keeps one copy of a reason that is there a million times.
func (r *reader) intern(s string) string {
	if i := slices.Index(r.reasons, s); i >= 0 {
		return r.reasons[i]
	}
	if len(r.reasons) < 64 {
		r.reasons = append(r.reasons, s)
	}
	return s
}

// parseSample reads the usual line, {"t":1,"c":2,"v":3}, without the price of JSON.
func parseSample(b []byte) (t, c, v int64, ok bool) {
	rest := b
	for i, name := range [...]string{`{"t":`, `,"c":`, `,"v":`} {
		if !bytes.HasPrefix(rest, []byte(name)) {
			return 0, 0, 0, false
		}
		rest = rest[len(name):]
		n, used := whole(rest)
		if used == 0 {
			return 0, 0, 0, false
		}
		rest = rest[used:]
		switch i {
		case 0:
			t = n
		case 1:
			c = n
		case 2:
			v = n
		}
	}
	return t, c, v, len(rest) == 1 && rest[0] == '}'
}

// whole reads a decimal of at most 18 digits, as JSON writes it.
func whole(b []byte) (n int64, used int) {
	neg := len(b) > 0 && b[0] == '-'
	i := 0
	if neg {
		i = 1
	}
	from := i
	for ; i < len(b) && '0' <= b[i] && b[i] <= '9' && i-from < 18; i++ {
		n = 10*n + int64(b[i]-'0')
	}
	if i == from || b[from] == '0' && i-from > 1 || neg && n == 0 {
		return 0, 0
	}
	if neg {
		n = -n
	}
	return n, i
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 120)], "") }

// short is an error of the JSON reader in few words.
func short(err error) string { return clip(err.Error()) }
