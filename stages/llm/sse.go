package llm

import "bytes"

var (
	bom      = []byte("\xef\xbb\xbf")
	sentinel = []byte("[DONE]")
)

// feedSSE frames server-sent events as the HTML standard says: lines end with
// CR, LF or CRLF; a blank line closes an event; "data" lines are joined with
// LF; one space after the colon is not part of the value; lines that begin
// with a colon are comments; a byte order mark at the start is skipped.
//
// An event carries the time of its last data line, not of the blank line: some
// servers send the blank line together with the next event.
func (r *recording) feedSSE(at int64) {
	if !r.skipBOM() {
		return
	}
	for !r.done && r.err == nil {
		if r.afterCR && r.pos < len(r.win) {
			r.afterCR = false
			if r.win[r.pos] == '\n' {
				r.pos++
				r.line = r.pos
			}
		}
		end := r.lineEnd()
		if end == len(r.win) {
			break
		}
		r.sseLine(r.line, end, at)
		r.afterCR = r.win[end] == '\r'
		r.pos, r.line = end+1, end+1
	}
	if r.done || r.err != nil {
		return
	}
	first := r.line
	if r.pending.any {
		first = r.pending.start
	}
	if r.forget(first); len(r.win) > maxEvent {
		r.err = errLongEvent
	}
}

// skipBOM reports false while it cannot be told yet whether there is one.
func (r *recording) skipBOM() bool {
	if r.started {
		return true
	}
	if len(r.win) < len(bom) && bytes.HasPrefix(bom, r.win) {
		return false
	}
	r.started = true
	if bytes.HasPrefix(r.win, bom) {
		r.pos, r.line = len(bom), len(bom)
	}
	return true
}

// lineEnd returns the position of the next CR or LF, len(buf) if there is none
// yet. Each byte is searched once for each of the two, however the stream is
// split and whichever it uses.
func (r *recording) lineEnd() int {
	r.lf, r.searchedL = nextByte(r.win, '\n', r.pos, r.lf, r.searchedL)
	r.cr, r.searchedC = nextByte(r.win, '\r', r.pos, r.cr, r.searchedC)
	end := min(r.lf, r.cr)
	if end == len(r.win) {
		r.pos = end
	}
	return end
}

// nextByte returns the first c in buf at or after pos (len(buf) = none) and up
// to where buf has been searched; found and searched are the previous results.
func nextByte(buf []byte, c byte, pos, found, searched int) (int, int) {
	if pos <= found && found < searched {
		return found, searched
	}
	from := max(pos, searched)
	if i := bytes.IndexByte(buf[from:], c); i >= 0 {
		return from + i, from + i + 1
	}
	return len(buf), len(buf)
}

func (r *recording) sseLine(start, end int, at int64) {
	if start == end {
		r.dispatch()
		return
	}
	line := r.win[start:end]
	name, value := line, end
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		name, value = line[:i], start+i+1
		if value < end && r.win[value] == ' ' {
			value++
		}
	}
	switch string(name) { // does not allocate
	case "data":
		r.addData(value, end, at)
	case "event":
		r.pending.failed = r.pending.failed || string(r.win[value:end]) == "error"
	case "error": // llama.cpp's older way to report one
		r.pending.failed = true
		r.addData(value, end, at)
	}
}

// addData appends a value to the pending event. A further line is moved up to
// the end of the one before, which leaves the payload in one piece; there is
// room for it because its field name is gone.
func (r *recording) addData(start, end int, at int64) {
	p := &r.pending
	if p.any {
		r.win[p.end] = '\n'
		p.end += 1 + copy(r.win[p.end+1:], r.win[start:end])
	} else {
		p.any, p.start, p.end = true, start, end
	}
	p.at, p.read = at, r.reads
	if isSentinel(r.win[p.start:p.end]) {
		r.dispatch() // at once: the blank line may never come
		r.done = true
	}
}

// isSentinel reports whether payload is [DONE], with any white space around it.
func isSentinel(payload []byte) bool { return bytes.Equal(bytes.TrimSpace(payload), sentinel) }

// dispatch closes the pending event. Empty ones are keep-alives.
func (r *recording) dispatch() {
	if p := &r.pending; p.any {
		if payload := r.win[p.start:p.end]; len(bytes.TrimSpace(payload)) > 0 {
			r.add(payload, p.event)
		}
	}
	r.pending = pending{}
}

// finishSSE takes an event that the end of the stream left open: many servers
// end with "data: [DONE]" and no blank line.
func (r *recording) finishSSE(at int64) {
	if r.line < len(r.win) && r.started {
		r.sseLine(r.line, len(r.win), at)
	}
	r.pending.open = true
	r.dispatch()
}
