//go:build unix

package llm_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
)

// The benchmarks over a socket run their server in a child process, so that
// the CPU time of this one is the client's alone.
const serveVariable = "CUPEL_BENCH_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) != "" {
		benchServe()
		return
	}
	os.Exit(m.Run())
}

const (
	benchEvents = 128 // as in the reference table of raw clients
	benchEvent  = `data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1795980368,"model":"tiny","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
)

// benchServe answers every request with a chunk per event until its input
// ends. The first part of the path says how far apart they are.
func benchServe() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go benchConn(conn)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func benchConn(conn net.Conn) {
	defer conn.Close()
	event := fmt.Appendf(nil, "%x\r\n%s\r\n", len(benchEvent), benchEvent)
	end := `data: {"model":"tiny","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	last := fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(end), end)
	for in := bufio.NewReader(conn); ; {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		pace, _ := time.ParseDuration(strings.Split(req.URL.Path, "/")[1])
		if req.Method == http.MethodGet {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"data\": []}")
			continue
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		for start, n := time.Now(), 1; n <= benchEvents; n++ {
			if pace > 0 {
				time.Sleep(time.Until(start.Add(time.Duration(n) * pace)))
			}
			if _, err := conn.Write(event); err != nil {
				return
			}
		}
		_, _ = conn.Write(last)
	}
}

func startBenchServer(tb testing.TB) (addr string) {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveVariable+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// residentMB is the most memory that this process has held so far.
func residentMB() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Maxrss) / 1024
}

// BenchmarkLoopback is a whole request over net/http and TCP: dispatch,
// reading, stamping, decoding. The CPU time of the client is divided by its
// events, that of the request itself included (100 events share it).
func BenchmarkLoopback(b *testing.B) {
	addr := startBenchServer(b)
	for _, c := range []struct {
		streams int
		pace    string
	}{{1, "0s"}, {64, "0s"}, {10, "10ms"}, {100, "10ms"}, {1000, "10ms"}} {
		b.Run(fmt.Sprintf("c=%d/pace=%s", c.streams, c.pace), func(b *testing.B) {
			client, err := llm.New(llm.Options{URL: "http://" + addr + "/" + c.pace + "/v1", Model: "tiny", MaxConns: c.streams})
			if err != nil {
				b.Fatal(err)
			}
			defer client.Close()
			if err := client.Warm(b.Context(), c.streams); err != nil {
				b.Fatal(err)
			}
			p := hi(b, client)
			b.ReportAllocs()
			b.SetBytes(int64(len(benchEvent) * benchEvents * c.streams))
			b.ResetTimer()
			before, coalesced := cpuTime(), 0
			for range b.N {
				var mu sync.Mutex
				var all sync.WaitGroup
				for range c.streams {
					all.Go(func() {
						r := client.Do(b.Context(), p)
						if r.Failure != nil || r.ContentChunks != benchEvents {
							b.Errorf("%d chunks, failure %+v", r.ContentChunks, r.Failure)
						}
						mu.Lock()
						coalesced += r.Coalesced
						mu.Unlock()
					})
				}
				all.Wait()
			}
			events := float64(b.N * c.streams * benchEvents)
			b.ReportMetric(float64(cpuTime()-before)/events, "cpu-ns/event")
			b.ReportMetric(float64(coalesced)/events, "coalesced")
			b.ReportMetric(residentMB(), "peak-MB-rss")
		})
	}
}
