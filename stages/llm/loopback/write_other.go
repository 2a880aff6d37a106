//go:build !unix

package loopback

import "net"

// atOnce returns a write of all bytes. It may wait for a reader that does not
// read, and then holds up the streams of the others.
func atOnce(c net.Conn) func([]byte) error { return whole(c) }
