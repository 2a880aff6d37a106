package ioreport

import "encoding/binary"

// elementSize is that of IOReportElement in xnu: provider, channel and type of 8
// bytes each, when the driver wrote it, and four values.
const elementSize = 64

// element is one reading as the driver wrote it.
type element struct {
	stamp uint64 // ticks of mach_absolute_time, 0 = the driver does not say
	value int64
}

// readElement reads the RawElements of a channel with one value.
func readElement(b []byte) (element, bool) {
	if len(b) != elementSize {
		return element{}, false
	}
	return element{binary.NativeEndian.Uint64(b[24:]), int64(binary.NativeEndian.Uint64(b[32:]))}, true
}

// ticks turns those of mach_absolute_time into ns.
type ticks struct{ numer, denom uint32 }

// maxAge is the largest age that is handed on, a day: what is beyond it was never
// written.
const maxAge = 24 * 3600 * 1_000_000_000

// age is how many ns before now the driver wrote a value; ok is false when it does
// not say, or says what cannot be.
func (t ticks) age(now, stamp uint64) (ns int64, ok bool) {
	if stamp == 0 || stamp > now || t.denom == 0 {
		return 0, false
	}
	diff := now - stamp
	if t.numer == 0 || t.numer > 1000 || diff > maxAge { // 125/3 on the chips of today
		return 0, false
	}
	ns = int64(diff) * int64(t.numer) / int64(t.denom)
	return ns, ns >= 0 && ns <= maxAge
}
