package llm_test

import (
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// suite is every hostile answer: the scripted ones and what a real Ollama sent.
func suite(tb testing.TB) []llmtest.Hostile {
	all := llmtest.Hostiles()
	for _, h := range captureCases() {
		form := "stream"
		if h.NoStream {
			form = "document"
		}
		raw := capture(tb, h.Name)
		if strings.Contains(raw, "Content-Length:") {
			raw = strings.TrimSuffix(raw, "\n") // the file's own last line end
		}
		h.Pieces, h.Name = []string{raw}, fmt.Sprintf("captured: %s, %s", h.Name, form)
		all = append(all, h)
	}
	return all
}

// inMemory asks with exactly the reads and pauses of the case, on a clock of
// its own.
func inMemory(t *testing.T, h llmtest.Hostile, judge func(llm.Response) []string) (problems []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, p := h.Client(t, "http://127.0.0.1:1", h.Transport(func() {}))
		problems = judge(c.Do(t.Context(), p))
	})
	return problems
}

// overPipe is inMemory with net/http's own client at work.
func overPipe(t *testing.T, h llmtest.Hostile, judge func(llm.Response) []string) (problems []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rt := llm.TransportOver(func() net.Conn {
			ours, theirs := net.Pipe()
			go h.Answer(theirs, time.Sleep)
			return ours
		})
		c, p := h.Client(t, "http://127.0.0.1:1", rt)
		problems = judge(c.Do(t.Context(), p))
		c.Close()
		synctest.Wait()
	})
	return problems
}

// feeds are the ways in which a case gets to the client.
var feeds = []struct {
	name string
	fits func(h llmtest.Hostile) bool
	run  func(t *testing.T, h llmtest.Hostile) []string
}{
	{"as scripted", func(llmtest.Hostile) bool { return true }, func(t *testing.T, h llmtest.Hostile) []string {
		return inMemory(t, h, func(r llm.Response) []string { return append(h.Problems(r), h.Timing(r)...) })
	}},
	{"net/http", func(h llmtest.Hostile) bool { return h.End != llmtest.Reset }, func(t *testing.T, h llmtest.Hostile) []string {
		return overPipe(t, h, func(r llm.Response) []string { return append(h.Problems(r), h.Timing(r)...) })
	}},
	{"whole", func(h llmtest.Hostile) bool { return len(h.Pieces) > 0 }, func(t *testing.T, h llmtest.Hostile) []string {
		h.Pieces, h.Pauses = []string{strings.Join(h.Pieces, "")}, nil
		return inMemory(t, h, h.Problems)
	}},
	{"byte by byte", func(h llmtest.Hostile) bool { return size(h) < 64<<10 }, func(t *testing.T, h llmtest.Hostile) []string {
		h.Pieces, h.Pauses = llmtest.Bytes(strings.Join(h.Pieces, "")), nil
		return inMemory(t, h, h.Problems)
	}},
}

func size(h llmtest.Hostile) (n int) {
	for _, p := range h.Pieces {
		n += len(p)
	}
	return n
}

// overTCP asks the served suite; what is read before a reset or a deadline is
// chance there.
func overTCP(t *testing.T, url string, h llmtest.Hostile) []string {
	base := url + "/case/" + h.Slug()
	if h.API != llm.Ollama {
		base += "/v1"
	}
	c, p := h.Client(t, base, nil)
	return h.Problems(c.Do(t.Context(), p))
}

// TestMatrix runs every case in every way. With -v it prints what passed.
func TestMatrix(t *testing.T) {
	server := httptest.NewServer(llmtest.HandlerWith(func(time.Duration) {}))
	t.Cleanup(server.Close)
	var table strings.Builder
	table.WriteString("| case | must be | as scripted | net/http | whole | byte by byte | over TCP |\n|---|---|---|---|---|---|---|\n")
	passed := 0
	for _, h := range suite(t) {
		must := "usable"
		if h.Class != "" {
			must = string(h.Class)
		}
		fmt.Fprintf(&table, "| %s | %s |", h.Name, must)
		note := func(name string, fits bool, run func(*testing.T) []string) {
			cell := ""
			if fits {
				ok := t.Run(h.Name+"/"+name, func(t *testing.T) {
					for _, p := range run(t) {
						t.Error(p)
					}
				})
				cell = map[bool]string{true: "ok", false: "FAILS"}[ok]
				passed += map[bool]int{true: 1}[ok]
			}
			fmt.Fprintf(&table, " %s |", cell)
		}
		for _, f := range feeds {
			note(f.name, f.fits(h), func(t *testing.T) []string { return f.run(t, h) })
		}
		scripted := h.End == llmtest.Close && !strings.HasPrefix(h.Name, "captured")
		note("over TCP", scripted, func(t *testing.T) []string { return overTCP(t, server.URL, h) })
		table.WriteString("\n")
	}
	t.Logf("%d checks passed\n%s", passed, table.String())
}
