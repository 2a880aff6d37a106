//go:build unix

package llm_test

import (
	"net"
	"syscall"
	"testing"

	"github.com/cupel-dev/cupel/stages/llm"
)

// A connection sends no keep-alive probes: one that gets lost in a busy network
// would end a request that only waits for a long prefill.
func TestNoKeepAliveProbes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := llm.NewTransport(1).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	probes := -1
	if err := raw.Control(func(fd uintptr) {
		probes, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_KEEPALIVE)
	}); err != nil || probes != 0 {
		t.Errorf("keep-alive %d, %v; want 0", probes, err)
	}
}
