package measure

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/pin/pintest"
)

// onDisk is a job whose outputs, and inputs of the same names, are files.
type onDisk struct {
	step.Job
	folder string
}

func (j onDisk) Create(name, _ string) (io.WriteCloser, error) {
	return os.Create(filepath.Join(j.folder, name))
}

func (j onDisk) Open(name string) (io.ReadCloser, error) {
	if name == cellInput("c=8", 1) {
		return os.Open(filepath.Join(j.folder, evidence.OutCell))
	}
	return j.Job.Open(name)
}

func (onDisk) Progress(int, int, string) {}

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

// streamedCell is a cell of n rows of 400 output events, on disk.
func streamedCell(t testing.TB, n int) onDisk {
	t.Helper()
	job := onDisk{folder: t.TempDir(), Job: cellJob(t, load(func(p *cellParams, c *spec.Capacity) {
		p.Cell, p.Concurrency, c.Requests, c.Warmup = "c=8", 8, n, 0
		c.Prompt, c.Output = spec.CapacityPrompt{Cache: "unique", Template: "{index}"}, spec.CapacityOutput{}
	}))}
	if err := (Cell{Dial: dial(instant{endpoint(echo)})}).Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	return job
}

// peakOf is by how many bytes the heap grew at most while f ran.
func peakOf(f func()) int64 {
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		peak := uint64(0)
		for {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			select {
			case <-done:
				most <- peak
				return
			default:
			}
		}
	}()
	f()
	close(done)
	return int64(<-most) - int64(before.HeapAlloc)
}

// TestRowsAreNotKept: a cell of any size needs the memory of a small one, from
// the feeder over the spool to the file.
func TestRowsAreNotKept(t *testing.T) {
	var job onDisk
	grown := peakOf(func() { job = streamedCell(t, manyRows) })
	file, err := os.ReadFile(filepath.Join(job.folder, evidence.OutCell))
	if err != nil {
		t.Fatal(err)
	}
	if rows := bytes.Count(file, []byte("\n")) - 1; rows != manyRows || len(file) < manyRows*1000 {
		t.Errorf("%d rows in %d bytes", rows, len(file))
	}
	if most := int64(feedAhead + 96<<20); grown > most { // kept, the rows would be 190 MiB
		t.Errorf("%d MiB more in memory, at most %d are to be", grown>>20, most>>20)
	}
	t.Logf("%d MiB written, %d MiB more in memory", len(file)>>20, grown>>20)
}

// BenchmarkMetricsPeak states what deriving a cell needs: the stamps of its
// rows are in memory as numbers, 8 bytes each, and the columns beside them.
func BenchmarkMetricsPeak(b *testing.B) {
	const rows = 20000
	cell := streamedCell(b, rows)
	c := &spec.Campaign{Candidates: map[string]spec.Candidate{"a": {}}, Measure: map[string]spec.Workload{"load": capacityOf([]int{8}, 1)}}
	s := metricsStep(c, "a", "load")
	peak := int64(0)
	for b.Loop() {
		peak = max(peak, peakOf(func() {
			job := onDisk{folder: cell.folder, Job: &pintest.Job{S: s, Inputs: map[string][]byte{scrapesInput("c=8", 1): {}}}}
			if err := (Metrics{}).Run(b.Context(), job); err != nil {
				b.Fatal(err)
			}
		}))
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
	b.ReportMetric(float64(peak)/rows, "peak-B/row")
}
