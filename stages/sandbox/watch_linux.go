//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/cupel-dev/cupel/stages/score"
)

// watcher looks at all processes of the sandbox together, which no resource
// limit does, and ends them when they use more than is allowed.
type watcher struct {
	limits jobLimits
	quit   chan struct{}
	done   sync.WaitGroup
	limit  score.Limit
}

const watchEvery = 10 * time.Millisecond

func watch(l jobLimits) *watcher {
	w := &watcher{limits: l, quit: make(chan struct{})}
	w.done.Go(w.run)
	return w
}

// stop returns the limit that was reached, "" for none.
func (w *watcher) stop() score.Limit {
	close(w.quit)
	w.done.Wait()
	return w.limit
}

func (w *watcher) run() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		w.look()
		select {
		case <-w.quit:
			w.look() // a bomb may have ended the program before it was seen
			return
		case <-tick.C:
		}
	}
}

func (w *watcher) look() {
	u := look(residentOf)
	if w.limits.broken(u) == score.LimitMemory {
		u = look(shareOf) // forked processes have most of their pages in common
	}
	if by := w.limits.broken(u); by != "" {
		if w.limit == "" {
			w.limit = by
		}
		_ = syscall.Kill(-1, syscall.SIGKILL) // everything but us and the first process
	}
}

func (l jobLimits) broken(u usage) score.Limit {
	switch {
	case u.threads > l.Processes:
		return score.LimitProcesses
	case u.memory > l.Memory:
		return score.LimitMemory
	case l.CPU > 0 && u.cpu > time.Duration(l.CPU+1)*time.Second:
		return score.LimitCPU
	}
	return ""
}

// usage is of all processes together.
type usage struct {
	threads int
	memory  int64 // bytes
	cpu     time.Duration
}

// look adds up all processes but the keeper and the first.
func look(memory func(dir string, stat []byte) int64) (u usage) {
	self := strconv.Itoa(os.Getpid())
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		pid := filepath.Base(filepath.Dir(f))
		if pid == self || pid == "1" {
			continue
		}
		stat, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		u.add(stat)
		u.memory += memory(filepath.Dir(f), stat)
	}
	return u
}

// residentOf counts pages that processes share for each of them.
func residentOf(_ string, stat []byte) int64 {
	return statField(stat)(24) * int64(os.Getpagesize())
}

// shareOf divides pages that processes share among them; the kernel walks all
// pages for it.
func shareOf(dir string, stat []byte) int64 {
	rollup, err := os.ReadFile(filepath.Join(dir, "smaps_rollup"))
	if err != nil {
		return residentOf(dir, stat)
	}
	for line := range bytes.Lines(rollup) {
		if kib, ok := bytes.CutPrefix(line, []byte("Pss:")); ok {
			n, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(kib), []byte(" kB"))), 10, 64)
			return n << 10
		}
	}
	return residentOf(dir, stat)
}

// clockTick is USER_HZ, which is 100 on every Linux that Go runs on.
const clockTick = time.Second / 100

// add adds threads and time of a line of /proc/PID/stat.
func (u *usage) add(stat []byte) {
	field := statField(stat)
	u.cpu += time.Duration(field(14)+field(15)+field(16)+field(17)) * clockTick
	u.threads += int(field(20))
}

// statField reads the numbers of a line of /proc/PID/stat by the numbers that
// proc_pid_stat(5) gives them; 0 for what is not there.
func statField(stat []byte) func(n int) int64 {
	_, rest, _ := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(" "))
	fields := bytes.Fields(rest) // from field 3, the state
	return func(n int) int64 {
		if n-3 >= len(fields) {
			return 0
		}
		v, _ := strconv.ParseInt(string(fields[n-3]), 10, 64)
		return v
	}
}
