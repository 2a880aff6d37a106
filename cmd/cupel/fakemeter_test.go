package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cupel-dev/cupel/stages/trace"
)

// fakeMeterVariable says how the program fake-meter behaves: dies, or as a meter should.
const fakeMeterVariable = "FAKE_METER"

// fakeMeter is a cupel-meter of one GPU that takes 100 W and whose counter is published
// every 20 ms. It runs in scripts, as a process of its own.
func fakeMeter() {
	what := ""
	if len(os.Args) > 1 {
		what = os.Args[1]
	}
	switch how := os.Getenv(fakeMeterVariable); {
	case what == "identify":
		fmt.Println(`{"schema":"cupel/hardware/v1","meter":"fake","made":"2026-11-28T00:00:00Z","system":{"os":"linux","arch":"amd64"},"cpu":{},"gpus":[]}`)
	case (what == "probe" || what == "sample") && how != "broken" && !ownGPUs(os.Args):
		fmt.Fprintln(os.Stderr, "cupel-meter: --gpu 5: there is no such GPU; there are GPU-1")
		os.Exit(4)
	case what == "probe" && how == "broken":
		fmt.Fprintln(os.Stderr, "cupel-meter: the driver hangs")
		os.Exit(3)
	case what == "probe":
		fmt.Print(cmp.Or(os.Getenv("FAKE_PROBE"), `{"schema":"cupel/meter-probe/v1","meter":"fake","hz":50,"duration_ns":3000000000,"clock":{"synchronised":true},`+
			`"devices":[{"id":"GPU-1","kind":"gpu","index":0}],"channels":[{"device":"GPU-1","domain":"nvml.gpu","quantity":"energy","unit":"mJ","source":"counter",`+
			`"period":{"mean_ns":20000000,"max_ns":21000000,"ticks":150,"looks":300,"look_ns":10000000},"last":7}],`+
			`"bases":[{"base":"nv.gpu","channels":[0],"period_ns":20000000,"window_1pct_ns":6521739000}]}`))
	case what == "sample":
		os.Exit(fakeSample(how == "dies"))
	default:
		fmt.Fprintf(os.Stderr, "cupel-meter: unknown command %q\n", what)
		os.Exit(2)
	}
}

// ownGPUs reports whether every GPU that is named is the one that there is.
func ownGPUs(args []string) bool {
	for i, a := range args {
		if a == "--gpu" && args[i+1] != "0" && args[i+1] != "GPU-1" {
			return false
		}
	}
	return true
}

func fakeSample(dies bool) int {
	start := time.Now()
	w, err := trace.NewWriter(os.Stdout, trace.Header{Meter: "fake", Made: "sample", Hz: 100, WallNS: start.UnixNano(), Devices: []trace.Device{{ID: "GPU-1", Kind: trace.GPU}},
		Channels: []trace.Channel{{Device: "GPU-1", Domain: trace.NVGPU, Quantity: trace.Energy, Unit: "mJ", Source: "counter"}}})
	if err != nil {
		return 1
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	one := 1
	_ = w.State(0, trace.State{Device: "GPU-1", Processes: &one, PIDs: []int{os.Getpid()}})
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	const period = 20 * time.Millisecond
	for n := 0; ; n++ {
		at := time.Since(start)
		_ = w.Sample(0, int64(at), int64(at/period)*int64(period)*100/1e6, "")
		_ = w.Sync(int64(at), start.Add(at).UnixNano())
		if err := w.Flush(); err != nil {
			return 1
		}
		if dies && n == 20 {
			fmt.Fprintln(os.Stderr, "cupel-meter: the GPU has fallen off the bus")
			return 4
		}
		select {
		case <-look.C:
		case <-ended:
			_ = w.Sample(0, int64(time.Since(start)), int64(time.Since(start)/period)*int64(period)*100/1e6, "")
			_ = w.End(int64(time.Since(start)), trace.End{Why: "input-ended"})
			return 0
		}
	}
}
