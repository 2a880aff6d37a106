//go:build linux && !race

package dispatch

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// inChild marks the process whose memory is measured.
const inChild = "CUPEL_TEST_STREAM"

// counter is where the rows go.
type counter struct{ bytes, lines int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	c.lines++
	return len(p), nil
}

// A million requests stream through the loop as rows of evidence, in a process
// of its own whose largest resident size the kernel tells.
func TestAMillionRowsInBoundedMemory(t *testing.T) {
	const requests, megabytes = 1_000_000, 200
	if os.Getenv(inChild) != "" {
		stream(t, requests)
		return
	}
	child := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), inChild+"=1")
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	peak := child.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
	t.Logf("%d rows, at most %d MB resident", requests, peak)
	if peak >= megabytes {
		t.Errorf("at most %d MB resident, want less than %d", peak, megabytes)
	}
}

func stream(t *testing.T, requests int) {
	var to counter
	enc := json.NewEncoder(&to)
	send := func(_ context.Context, i int) llm.Response {
		tokens := int64(16)
		r := llm.Response{Text: "sixteen words", FinishReason: "stop", Usage: &llm.Usage{OutputTokens: &tokens}, OutputNS: make([]int64, 16)}
		for j := range r.OutputNS {
			r.OutputNS[j] = int64(10_000_000 + i%1000 + j)
		}
		return r
	}
	seen := make([]bool, requests)
	out := Closed(t.Context(), 64, requests, send, func(r Result) {
		seen[r.Index] = true
		a := r.Response
		if err := enc.Encode(evidence.LoadRow{
			Index: r.Index, Planned: r.Planned, Dispatched: r.Dispatched, Times: a.Times,
			OutputNS: a.OutputNS, Usage: a.Usage, Finish: a.FinishReason,
		}); err != nil {
			t.Fatal(err)
		}
	})
	for i, ok := range seen {
		if !ok {
			t.Fatalf("request %d was not taken", i)
		}
	}
	if to.lines != int64(requests) || to.bytes < 200*int64(requests) || out.MaxInFlight > 64 {
		t.Errorf("%d lines of %d bytes, at most %d in flight", to.lines, to.bytes, out.MaxInFlight)
	}
	t.Logf("%d bytes written, stalled for %v", to.bytes, out.Stalled)
}
