package llm

import "unicode/utf8"

// usualEvent is what the usual event says. The texts are good until the next.
type usualEvent struct {
	model []byte
	parts [4]part // the content, and the reasoning by spelling in order of preference
}

// part is a text and where it stands in the event, between its quotes.
type part struct {
	text     []byte
	from, to int // 0 = it is not there
}

// usualReaders read the event that only brings text, the overwhelming part of
// a stream, and refuse any other.
var usualReaders = map[API]func(*scan, *usualEvent){
	OpenAI:            func(s *scan, u *usualEvent) { s.usualChunk(choiceFields, u) },
	OpenAICompletions: func(s *scan, u *usualEvent) { s.usualChunk(textFields, u) },
	OpenAIResponses:   (*scan).usualPart,
	Ollama:            func(s *scan, u *usualEvent) { s.usualLine(lineFields, u) },
	OllamaGenerate:    func(s *scan, u *usualEvent) { s.usualLine(generateFields, u) },
}

// usual returns a function that takes an event that only brings text, and
// reports whether it did. If not it changed nothing, and the strict decoder
// must look. It accepts an event only if the strict decoder would, with the
// same outcome.
func (d *decoding) usual(api API) func([]byte, event) bool {
	read := usualReaders[api]
	if !d.stream || d.strict || read == nil {
		return func([]byte, event) bool { return false }
	}
	return func(payload []byte, e event) bool {
		if d.likeness.fits(payload, e, &d.event) {
			d.take(&d.event, e)
			return true
		}
		d.scan = scan{b: payload, scratch: d.scan.scratch[:0]}
		d.event = usualEvent{}
		if read(&d.scan, &d.event); !d.scan.end() {
			return false
		}
		d.take(&d.event, e)
		if e.whole() && len(d.scan.scratch) == 0 {
			d.likeness = likeness{known: true, key: e.key, length: len(payload), event: d.event}
		}
		return true
	}
}

// likeness is an event that was kept whole, and scanned. An event that differs
// from it only inside one of its texts needs no scan: up to that text's opening
// quote and from its closing quote on a JSON reader sees the same bytes, so it
// does the same.
type likeness struct {
	known  bool
	key    uint32
	length int
	event  usualEvent
}

// fits reports whether payload is such an event, and if so what it says.
func (l *likeness) fits(payload []byte, e event, u *usualEvent) bool {
	if !l.known || e.key != l.key || e.whole() {
		return false
	}
	if int(e.head) == l.length && len(payload) == l.length {
		*u = l.event // to the last byte
		return true
	}
	for i, p := range l.event.parts {
		if p.from == 0 || int(e.head) < p.from || l.length-int(e.tail) > p.to {
			continue
		}
		text := payload[p.from : len(payload)-(l.length-p.to)]
		if !isPlain(text) {
			return false
		}
		*u = l.event
		u.parts[i].text = text
		return true
	}
	return false
}

// isPlain reports whether text stands for itself between quotes.
func isPlain(text []byte) bool {
	high := byte(0)
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
		high |= c
	}
	return high < utf8.RuneSelf || utf8.Valid(text)
}

// take has the effect that the strict decoding of the event would have.
func (d *decoding) take(u *usualEvent, e event) {
	if string(u.model) != d.resp.Model { // does not allocate
		d.model(string(u.model))
	}
	content, reasoning := u.parts[0].text, []byte(nil)
	for _, p := range u.parts[1:] {
		if len(p.text) > 0 {
			reasoning = p.text
			break
		}
	}
	d.text.Write(content)
	d.reasoning.Write(reasoning)
	if len(content) > 0 || len(reasoning) > 0 {
		d.stamp(len(content) > 0, len(reasoning) > 0, e)
	}
}

// fieldSet is a set of JSON member names.
type fieldSet uint32

// The names in the usual event of any protocol. Those without a meaning here,
// and those that only matter when they are not null, have a bit each so that a
// name that comes twice is noticed.
const (
	fIgnored fieldSet = 1 << iota
	fIgnored2
	fIgnored3
	fIgnored4
	fIgnored5
	fIgnored6
	fNull
	fNull2
	fNull3
	fNull4
	fNull5
	fNull6
	fObject
	fModel
	fChoices
	fIndex
	fDelta
	fMessage
	fContent
	fReasoning
	fReasoning2
	fReasoning3
	fFinish
	fDone
	fType
	fEmptyList
)

const (
	ignored = fIgnored | fIgnored2 | fIgnored3 | fIgnored4 | fIgnored5 | fIgnored6
	null    = fNull | fNull2 | fNull3 | fNull4 | fNull5 | fNull6
)

// common reads the value of a field that means the same in every protocol; one
// that it does not know is bad.
func (s *scan) common(f fieldSet, u *usualEvent) {
	switch {
	case f&ignored != 0:
		s.skip()
	case f&null != 0:
		s.literal("null")
	case f == fModel:
		u.model = s.text()
	case f == fContent:
		u.parts[0] = s.part()
	case f == fReasoning:
		u.parts[1] = s.part()
	case f == fReasoning2:
		u.parts[2] = s.part()
	case f == fReasoning3:
		u.parts[3] = s.part()
	default:
		s.bad = true
	}
}
