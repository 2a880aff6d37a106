package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/stages/llm/loopback"
	"github.com/cupel-dev/cupel/stages/metric"
)

// overheadReport is the document of cupel overhead.
type overheadReport struct {
	Schedule loopback.Schedule `json:"schedule"`
	Machine  machine           `json:"machine"`
	Rows     []overheadRow     `json:"rows"`
}

type machine struct {
	CPUs int    `json:"cpus"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

func thisMachine() machine { return machine{runtime.NumCPU(), runtime.GOOS, runtime.GOARCH} }

// overheadRow is one concurrency. A value is null where the server keeps no
// schedule, or this system does not tell.
type overheadRow struct {
	Concurrency  int      `json:"concurrency"`
	Requests     int      `json:"requests"`
	Events       int      `json:"events"`
	Coalesced    int      `json:"coalesced"`
	TTFT         *float64 `json:"ttft_mean_ms"`
	Truth        *float64 `json:"ttft_truth_ms"`
	Excess       *float64 `json:"ttft_excess_ms"`
	ITLP50       *float64 `json:"itl_p50_ms"`
	ITLP99       *float64 `json:"itl_p99_ms"`
	ITLStdDev    *float64 `json:"itl_stddev_ms"`
	LagP50       *float64 `json:"lag_p50_ms"`
	LagP99       *float64 `json:"lag_p99_ms"`
	LagMax       *float64 `json:"lag_max_ms"`
	CPUPerEvent  *float64 `json:"cpu_per_event_us"`
	CPUShare     *float64 `json:"cpu_share"` // of one core
	EventRate    float64  `json:"events_per_s"`
	RSS          *float64 `json:"rss_peak_mb"`
	ServerLagP99 *float64 `json:"server_lag_p99_ms"`
	Load         *float64 `json:"load"` // run queue, one-minute mean before the row
	Clean        bool     `json:"clean"`
	Doubt        string   `json:"doubt,omitempty"`
}

// behind is from when on the server's own lateness makes a row unclean.
const behind = time.Millisecond

func newOverheadRow(r loopback.Reading, rss, load *float64) overheadRow {
	row := overheadRow{
		Concurrency: r.Concurrency, Requests: r.Requests, Events: r.Events, Coalesced: r.Coalesced,
		EventRate: float64(r.Events) / time.Duration(r.Wall).Seconds(), RSS: rss, Load: load, Clean: true,
	}
	if r.CPU >= 0 {
		row.CPUPerEvent = new(float64(r.CPU) / float64(r.Events) / 1e3)
		row.CPUShare = new(float64(r.CPU) / float64(r.Wall))
	}
	if len(r.Lags) == 0 {
		return row
	}
	ttft, gaps, lags := inMS(r.TTFT), inMS(r.Gaps), inMS(r.Lags)
	row.TTFT, row.Truth = ttft.Mean, new(float64(r.Server.FirstMean)/1e6)
	row.Excess = new(*ttft.Mean - *row.Truth)
	row.ITLP50, row.ITLP99, row.ITLStdDev = gaps.P50, gaps.P99, gaps.StdDev
	row.LagP50, row.LagP99, row.LagMax = lags.P50, lags.P99, lags.Max
	row.ServerLagP99 = new(float64(r.Server.LagP99) / 1e6)
	if late := time.Duration(r.Server.LagP99); late > behind {
		row.Clean = false
		row.Doubt = fmt.Sprintf("the server was behind its own schedule (p99 %.1f ms): the machine was too busy to tell", late.Seconds()*1e3)
	}
	return row
}

func inMS[F float32 | float64](ns []F) metric.Dist {
	ms := make([]float64, len(ns))
	for i, v := range ns {
		ms[i] = float64(v) / 1e6
	}
	return metric.NewDist(ms, "ms", "")
}

// code is 3 when any row could not be told.
func (r *overheadReport) code() exitCode {
	for _, row := range r.Rows {
		if !row.Clean {
			return exitUndetermined
		}
	}
	return exitOK
}

const overheadLine = "%5s %8s %8s %7s | %6s %6s %6s | %6s %6s %6s | %6s %5s | %6s %5s  %s\n"

func (r *overheadReport) head() string {
	s := r.Schedule
	truth := fmt.Sprintf("truth: first event %s, gap %s, %d events", s.First, s.Gap, s.Events)
	if s.Gap == 0 {
		truth = fmt.Sprintf("full speed, %d events", s.Events)
	}
	return fmt.Sprintf("%s; %d CPUs; times in ms\n", truth, r.Machine.CPUs) +
		fmt.Sprintf(overheadLine, "c", "events", "ttft", "excess", "itl50", "itl99", "sd", "lag50", "lag99", "max", "us/ev", "rss", "server", "load", "row")
}

func (r *overheadRow) line() string {
	verdict := "clean"
	if !r.Clean {
		verdict = "not clean: " + r.Doubt
	}
	return fmt.Sprintf(overheadLine, strconv.Itoa(r.Concurrency), strconv.Itoa(r.Events),
		shown(r.TTFT, 2), shown(r.Excess, 2), shown(r.ITLP50, 2), shown(r.ITLP99, 2), shown(r.ITLStdDev, 2),
		shown(r.LagP50, 2), shown(r.LagP99, 2), shown(r.LagMax, 2), shown(r.CPUPerEvent, 2), shown(r.RSS, 0),
		shown(r.ServerLagP99, 2), shown(r.Load, 1), verdict)
}

func shown(v *float64, digits int) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', digits, 64)
}

// resetPeak makes the kernel forget this process's peak memory, as far as it
// can: else a row would show that of an earlier one.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peakRSS is the peak memory of this process in MB (10^6 bytes), nil = unknown.
func peakRSS() *float64 {
	b, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	line, _, _ := strings.Cut(rest, "kB")
	kib, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
	if err != nil {
		return nil
	}
	return new(kib * 1024 / 1e6)
}

// loadAverage is the mean run queue over a minute, nil = unknown.
func loadAverage() *float64 {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	v, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return nil
	}
	return new(v)
}
