package llm

import "bytes"

// feedNDJSON frames one JSON document per line. Blank lines are skipped. The
// line with "done":true at its top level ends the answer.
func (r *recording) feedNDJSON(at int64) {
	for !r.done && r.err == nil {
		i := bytes.IndexByte(r.win[r.pos:], '\n')
		if i < 0 {
			r.pos = len(r.win)
			break
		}
		end := r.pos + i
		r.ndjsonLine(end, at, false)
		r.pos, r.line = end+1, end+1
	}
	if r.done || r.err != nil {
		return
	}
	if r.forget(r.line); len(r.win) > maxEvent {
		r.err = errLongEvent
	}
}

func (r *recording) finishNDJSON(at int64) { r.ndjsonLine(len(r.win), at, true) }

func (r *recording) ndjsonLine(end int, at int64, open bool) {
	line := r.win[r.line:end]
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	r.add(line, event{at: at, read: r.reads, open: open})
	r.done = bytes.Contains(line, []byte("true")) && topLevelTrue(line, "done")
}

// topLevelTrue reports whether the JSON object has the member name with the
// value true at its top level. A tool call's arguments may hold the same name
// further down. It looks only at quotes, braces and colons: on text that is
// not JSON the answer does not matter, the decoder will refuse it.
func topLevelTrue(object []byte, name string) bool {
	depth := 0
	for i := 0; i < len(object); i++ {
		switch object[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := stringEnd(object, i)
			if depth == 1 && string(object[i+1:end]) == name && end < len(object) {
				rest := bytes.TrimLeft(object[end+1:], " \t\r\n")
				if len(rest) > 0 && rest[0] == ':' {
					return bytes.HasPrefix(bytes.TrimLeft(rest[1:], " \t\r\n"), []byte("true"))
				}
			}
			i = end
		}
	}
	return false
}

// stringEnd returns the position of the quote that closes the string which
// opens at i, len(b) if there is none.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b)
}
