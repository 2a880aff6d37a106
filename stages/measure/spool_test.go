package measure

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/llm"
)

func TestSpool(t *testing.T) {
	for _, n := range []int{0, 1, 100, 10000} {
		s, want := newSpool(), bytes.Buffer{}
		s.limit = 1000
		for i := range n {
			line := fmt.Sprintf("line %d", i)
			s.put([]byte(line))
			want.WriteString(line + "\n")
		}
		var got bytes.Buffer
		if err := s.copy(&got); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) || (s.file != nil) != (n > 1000) {
			t.Errorf("%d lines: %v, %d bytes of %d", n, err, got.Len(), want.Len())
		}
		s.close()
	}
}

func TestSpoolOnAFullDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	s := newSpool()
	s.limit = 10
	for range 5 {
		s.put([]byte("0123456789"))
	}
	if err := s.copy(io.Discard); err == nil {
		t.Error("lines were lost silently")
	}
	s.close()
}

// sink is a job whose outputs go nowhere.
type sink struct {
	step.Job
	written atomic.Int64
}

func (s *sink) Create(string, string) (io.WriteCloser, error) { return s, nil }

func (s *sink) Write(p []byte) (int, error) { s.written.Add(int64(len(p))); return len(p), nil }

func (s *sink) Close() error { return nil }

func (*sink) Progress(int, int, string) {}

// instant prepares and answers without keeping anything.
type instant struct{ Endpoint }

func (instant) Prepare(llm.Request) (*llm.Prepared, error) {
	return &llm.Prepared{Body: make([]byte, 400)}, nil
}

func (instant) Do(context.Context, *llm.Prepared) llm.Response {
	n := int64(20)
	return llm.Response{FinishReason: "stop", Usage: &llm.Usage{OutputTokens: &n, PromptTokens: &n}, Times: llm.Times{End: 1}, OutputNS: make([]int64, 400)}
}

// manyRows is how many rows the test below streams. The bound holds for any
// number of them.
const manyRows = 60000

// TestRowsAreNotKept: a cell of any size needs the memory of a small one.
func TestRowsAreNotKept(t *testing.T) {
	job := &sink{Job: cellJob(t, load(func(p *cellParams, c *spec.Capacity) {
		p.Concurrency, c.Requests, c.Warmup = 8, manyRows, 0
		c.Prompt, c.Output = spec.CapacityPrompt{Cache: "unique", Template: "{index}"}, spec.CapacityOutput{}
	}))}
	var peak atomic.Uint64
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-done:
				return
			default:
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapAlloc))
		}
	}()
	err := Cell{Dial: dial(instant{endpoint(echo)})}.Run(t.Context(), job)
	close(done)
	<-watched
	if err != nil {
		t.Fatal(err)
	}
	grown := int64(peak.Load()) - int64(before.HeapAlloc)
	if job.written.Load() < manyRows*1000 || grown > feedAhead+48<<20 {
		t.Fail() // kept, the rows would be 190 MiB
	}
	t.Logf("%d MiB written, %d MiB more in memory", job.written.Load()>>20, grown>>20)
}
