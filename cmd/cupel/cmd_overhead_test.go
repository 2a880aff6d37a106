package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/llm/loopback"
)

func TestOverheadFlags(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"overhead --concurrency 0", "concurrency 0"},
		{"overhead --concurrency 1,-4", "concurrency -4"},
		{"overhead --concurrency 5000", "concurrency 5000"},
		{"overhead --concurrency ten", "invalid argument"},
		{"overhead --concurrency=", "invalid argument"},
		{"overhead --requests -1", "negative"},
		{"overhead --full-speed -1", "negative"},
		{"overhead 100", "takes no arguments"},
		{"loopback --gap 1ns", "gap 1ns"},
		{"loopback --gap x", "invalid argument"},
		{"loopback --events 0", "0 events"},
		{"loopback --bytes 3", "3 bytes"},
		{"loopback here", "takes no arguments"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(tc.args), strings.NewReader(""), &stdout, &stderr)
		if code != int(exitUsage) || !strings.Contains(stderr.String(), tc.want) || stdout.Len() > 0 {
			t.Errorf("cupel %s: exit code %d, %q, want %q", tc.args, code, &stderr, tc.want)
		}
	}
}

// TestLoopbackEndsWithParent: the server says its address, serves, and ends
// when its standard input does, as it does when a parent is killed.
func TestLoopbackEndsWithParent(t *testing.T) {
	parent, stdin := io.Pipe() // the child reads from parent
	out, stdout := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(context.Background(), []string{"loopback", "--events", "7"}, parent, stdout, &stderr)
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	var s loopback.Stats
	resp, err := http.Get(url + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	err = json.NewDecoder(resp.Body).Decode(&s)
	resp.Body.Close()
	if err != nil || s.Schedule.Events != 7 || s.Schedule.Gap != loopback.CheckSchedule.Gap {
		t.Errorf("schedule %+v, %v", s.Schedule, err)
	}
	stdin.Close()
	if got := <-code; got != 0 {
		t.Errorf("exit code %d: %s", got, &stderr)
	}
	if _, err := http.Get(url + "/stats"); err == nil {
		t.Error("it still answers")
	}
}

// TestOverheadRow: by hand, and without a number where there is none.
func TestOverheadRow(t *testing.T) {
	r := loopback.Reading{
		Concurrency: 2, Requests: 2, Events: 4, Wall: 2e9, CPU: 1e9,
		TTFT: []float64{51e6, 53e6}, Gaps: []float32{9e6, 11e6}, Lags: []float32{1e6, 2e6, 3e6, 4e6},
		Server: loopback.Stats{FirstMean: 50.5e6, LagP99: int64(behind)},
	}
	row := newOverheadRow(r, new(12.0), new(0.5))
	for name, v := range map[string]struct {
		got  *float64
		want float64
	}{
		"ttft": {row.TTFT, 52}, "truth": {row.Truth, 50.5}, "excess": {row.Excess, 1.5}, "itl50": {row.ITLP50, 9}, "itl99": {row.ITLP99, 11},
		"lag50": {row.LagP50, 2}, "lag99": {row.LagP99, 4}, "max": {row.LagMax, 4}, "us/ev": {row.CPUPerEvent, 250000}, "cpu": {row.CPUShare, 0.5},
		"server": {row.ServerLagP99, 1}, "rate": {&row.EventRate, 2},
	} {
		if v.got == nil || *v.got != v.want {
			t.Errorf("%s: %s, want %v", name, shown(v.got, 9), v.want)
		}
	}
	report := overheadReport{Rows: []overheadRow{row}}
	if !row.Clean || report.code() != exitOK || !strings.HasSuffix(row.line(), "clean\n") {
		t.Errorf("a server that kept its schedule: %s", row.line())
	}
	r.Server.LagP99 += int64(time.Millisecond)
	row = newOverheadRow(r, nil, nil)
	report.Rows = append(report.Rows, row)
	if row.Clean || report.code() != exitUndetermined || !strings.Contains(row.line(), "not clean: the server was behind its own schedule (p99 2.0 ms)") {
		t.Errorf("a server that did not keep its schedule: %s", row.line())
	}
	r.Lags, r.CPU = nil, -1
	row = newOverheadRow(r, nil, nil)
	if row.Excess != nil || row.LagP99 != nil || row.CPUPerEvent != nil || row.RSS != nil || !row.Clean {
		t.Errorf("full speed on a system that tells nothing: %+v", row)
	}
}
