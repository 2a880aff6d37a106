//go:build unix

package loopback

import (
	"net"
	"syscall"
)

// atOnce returns a write that takes all bytes or fails, without waiting: a
// reader that does not read must not hold up the streams of the others.
func atOnce(c net.Conn) func([]byte) error {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return whole(c)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return whole(c)
	}
	w := &rawWrite{raw: raw}
	w.try = w.once // made here, as it would else be allocated per event
	return w.write
}

type rawWrite struct {
	raw syscall.RawConn
	try func(fd uintptr) bool
	b   []byte
	n   int
	err error
}

func (w *rawWrite) write(b []byte) error {
	w.b = b
	if err := w.raw.Write(w.try); err != nil {
		return err
	}
	if w.err == nil && w.n < len(b) {
		w.err = errSlowReader
	}
	return w.err
}

func (w *rawWrite) once(fd uintptr) bool {
	for {
		if w.n, w.err = syscall.Write(int(fd), w.b); w.err != syscall.EINTR {
			return true
		}
	}
}
