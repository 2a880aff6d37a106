//go:build unix

package build

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/items"
)

// linesVar makes the test binary build from that many generated lines.
const linesVar = "CUPEL_BUILD_LINES"

// TestMemory builds in a process of its own, all lines and no sample, and looks
// at the most memory that it held: 500 MB for a million lines. 30,000 are enough
// to see something held that should not be; CUPEL_BUILD_LINES=1000000 measures.
func TestMemory(t *testing.T) {
	n := 30_000
	if s := os.Getenv(linesVar); s != "" {
		n, _ = strconv.Atoi(s)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestBuildLines$", "-test.v")
	cmd.Env = append(os.Environ(), linesVar+"="+strconv.Itoa(n), "CUPEL_BUILD_CHILD=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rss := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS != "darwin" { // there in bytes
		rss <<= 10
	}
	limit := int64(150<<20) + int64(n)*350
	t.Logf("%d lines: %d MB (limit %d MB), CPU %v\n%s", n, rss>>20, limit>>20, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), out)
	if rss > limit || n <= 1_000_000 && rss > 500<<20 {
		t.Errorf("%d lines took %d MB, allowed are %d", n, rss>>20, min(limit, 500<<20)>>20)
	}
}

// TestBuildLines is the process that TestMemory starts; alone it builds a little.
func TestBuildLines(t *testing.T) {
	n := 1000
	if os.Getenv("CUPEL_BUILD_CHILD") != "" {
		n, _ = strconv.Atoi(os.Getenv(linesVar))
	}
	o := Options{Logs: []Source{{"generated", func() (io.ReadCloser, error) { return io.NopCloser(newLogs(n)), nil }}}, KeepDigits: true}
	start := time.Now()
	emitted := 0
	r, err := Run(context.Background(), o, func(items.Item) error { emitted++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	t.Logf("%d lines in %.1f s, %.0f lines/s; %d items, %d exact, %d near, %d unchecked, %v", r.Lines, took.Seconds(), float64(n)/took.Seconds(),
		r.Items, r.ExactDuplicates, r.NearDuplicates, r.NearUnchecked, r.Scrubbed)
	if r.Lines != n || emitted != r.Items || r.Items+r.ExactDuplicates+r.NearDuplicates != n || r.ExactDuplicates < n/20 || r.NearDuplicates < n/40 {
		t.Errorf("%+v", r)
	}
}
