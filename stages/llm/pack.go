package llm

import (
	"encoding/binary"
	"math/bits"
)

// event is one framed payload: when it came, and where its bytes are.
type event struct {
	at         int64  // ns since dispatch at which the read returned that brought its last byte
	start, end uint32 // its own bytes in the arena
	key        uint32 // the event with which it shares its first head and last tail bytes
	head, tail uint16
	read       int32 // number of the read
	failed     bool  // its field or event name is "error"
	open       bool  // the stream ended before the event was closed
}

// whole reports whether the event shares nothing with an earlier one.
func (e event) whole() bool { return e.head == 0 && e.tail == 0 }

// packed holds payloads. Those of one stream are alike but for a few bytes, so
// most are kept as their difference from an earlier one, byte for byte: a
// thousand streams at once then fit into a cache and a small machine.
type packed struct {
	events  []event
	arena   []byte
	key     int // the event that was last kept whole
	scratch []byte
}

func (p *packed) emptied() packed {
	return packed{events: p.events[:0], arena: p.arena[:0], scratch: p.scratch[:0]}
}

const eventBytes = 32

// size is the memory that p holds.
func (p *packed) size() int { return cap(p.arena) + cap(p.scratch) + eventBytes*cap(p.events) }

// add keeps a copy of payload.
func (p *packed) add(payload []byte, e event) {
	e.start, e.key = uint32(len(p.arena)), uint32(len(p.events))
	if own, ok := p.difference(payload, &e); ok {
		payload = own
	} else {
		p.key = len(p.events)
	}
	p.arena = append(p.arena, payload...)
	e.end = uint32(len(p.arena))
	p.events = append(p.events, e)
}

// difference finds what payload has of its own beside the key event, and
// reports whether keeping only that is worth it. What is not becomes the next key.
func (p *packed) difference(payload []byte, e *event) ([]byte, bool) {
	const longest = 1<<16 - 1
	if len(p.events) == 0 || len(payload) > longest {
		return nil, false
	}
	k := p.events[p.key]
	key := p.arena[k.start:k.end]
	head := commonPrefix(key, payload)
	tail := commonSuffix(key[head:], payload[head:])
	if 2*(head+tail) < len(payload) {
		return nil, false
	}
	e.key, e.head, e.tail = uint32(p.key), uint16(head), uint16(tail)
	return payload[head : len(payload)-tail], true
}

// adopt keeps *payload without a copy and leaves an empty buffer in its place.
func (p *packed) adopt(payload *[]byte, e event) {
	e.end = uint32(len(*payload))
	p.events = append(p.events, e)
	p.arena, *payload = *payload, p.arena
}

// payload returns the bytes of e, good until the next call.
func (p *packed) payload(e event) []byte {
	own := p.arena[e.start:e.end]
	if e.whole() {
		return own
	}
	k := p.events[e.key]
	key := p.arena[k.start:k.end]
	p.scratch = append(append(append(p.scratch[:0], key[:e.head]...), own...), key[len(key)-int(e.tail):]...)
	return p.scratch
}

// commonPrefix is the number of bytes with which both begin.
func commonPrefix(a, b []byte) (n int) {
	a, b = a[:min(len(a), len(b))], b[:min(len(a), len(b))]
	for ; len(a)-n >= 8; n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// commonSuffix is the number of bytes with which both end.
func commonSuffix(a, b []byte) (n int) {
	a, b = a[len(a)-min(len(a), len(b)):], b[len(b)-min(len(a), len(b)):]
	for ; len(a)-n >= 8; n += 8 {
		if x := binary.LittleEndian.Uint64(a[len(a)-n-8:]) ^ binary.LittleEndian.Uint64(b[len(b)-n-8:]); x != 0 {
			return n + bits.LeadingZeros64(x)/8
		}
	}
	for n < len(a) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
