package llm

import (
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"
)

// marks are the stamps that net/http takes on goroutines of its own, some of
// them after RoundTrip has returned. Zero = did not happen.
type marks struct {
	conn, written, firstByte atomic.Int64
	reused                   atomic.Bool
}

// never is how a Times field says that something did not happen.
const never = -1

// trace returns the hooks that fill m. since gives ns since dispatch.
func (m *marks) trace(since func() int64) *httptrace.ClientTrace {
	stamp := func(a *atomic.Int64) { a.CompareAndSwap(0, max(since(), 1)) } // 0 is taken
	return &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			m.reused.Store(i.Reused)
			stamp(&m.conn)
		},
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if i.Err == nil {
				stamp(&m.written)
			}
		},
		GotFirstResponseByte: func() { stamp(&m.firstByte) },
	}
}

// fill copies the connection's stamps.
func (m *marks) fill(t *Times) {
	t.Reused = m.reused.Load()
	t.Conn, t.Written = orNever(m.conn.Load()), orNever(m.written.Load())
}

func orNever(ns int64) int64 {
	if ns == 0 {
		return never
	}
	return ns
}

// unstarted is a Times in which nothing happened yet.
func unstarted(t0 time.Time) Times {
	return Times{StartUnixNS: t0.UnixNano(), Conn: never, Written: never, Header: never,
		FirstOutput: never, FirstVisible: never, LastOutput: never, End: never}
}

// consistent reports whether 0 <= TTFO <= TTFT <= end to end, and the last
// output lies between the first and the end, as far as they happened.
func (t *Times) consistent() bool {
	last := int64(0)
	for _, ns := range []int64{t.FirstOutput, t.FirstVisible, t.LastOutput, t.End} {
		switch {
		case ns == never:
			continue
		case ns < last:
			return false
		}
		last = ns
	}
	return true
}

// backwards reports whether an output event came before the one before it.
func backwards(stamps []int64) bool {
	return slices.ContainsFunc(stamps, func(ns int64) bool { return ns < 0 })
}
