package store

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// Owner says who holds a lock. It serves messages only: whether a lock is held
// is for the kernel to say.
type Owner struct {
	Host  string    `json:"host"`
	Boot  string    `json:"boot,omitzero"` // id of the host's boot
	PID   int       `json:"pid"`
	Start string    `json:"start,omitzero"` // of the process, in clock ticks since boot
	Since time.Time `json:"since"`          // of the hold
}

// String describes the owner for a message.
func (o Owner) String() string {
	if o.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s since %s", o.PID, o.Host, o.Since.Format(time.DateTime+"Z07:00"))
}

// self is this process, without Since.
var self = sync.OnceValue(func() Owner {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // Linux only
	stat, _ := os.ReadFile("/proc/self/stat")
	return Owner{Host: host, Boot: strings.TrimSpace(string(boot)), PID: os.Getpid(), Start: startTime(stat)}
})

// startTime takes field 22 from proc_pid_stat(5). The command before it is in
// parentheses and may hold spaces and parentheses itself.
func startTime(stat []byte) string {
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 {
		return ""
	}
	fields := strings.Fields(string(stat[i+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

func (s *Store) owner() Owner {
	o := self()
	o.Since = s.clock().UTC().Truncate(time.Second)
	return o
}

// maxOwner bounds what is read of a lock file.
const maxOwner = 4 << 10

// parseOwner reads an owner as far as it can: a lock file may be read while it
// is being written, and then says nothing.
func parseOwner(b []byte) Owner {
	var o Owner
	if len(b) > maxOwner || json.Unmarshal(b, &o) != nil || o.PID <= 0 {
		return Owner{}
	}
	o.Host = strings.Map(printable, o.Host)
	return o
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

func readOwner(f *os.File) Owner {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxOwner+1))
	if err != nil {
		return Owner{}
	}
	return parseOwner(b)
}
