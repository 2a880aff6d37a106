package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/stages/meter/record"
	"github.com/cupel-dev/cupel/stages/trace"
)

func diff(want, got any) string { return cmp.Diff(want, got) }

// probed runs cupel-meter probe.
func probed(t *testing.T, library, env string, args ...string) (p *trace.Probe, code int, words string) {
	t.Helper()
	c, stdout, stderr := program(t, env, append([]string{"probe", "--nvml-library", library}, args...)...)
	code = exited(t, c, c.Run)
	p, err := trace.ReadProbe(stdout)
	if err != nil {
		t.Fatalf("%v: exit %d, stderr %s", err, code, stderr)
	}
	return p, code, stderr.String()
}

// A counter that is published every 20 ms is seen to change so often, within what
// the looks allow. A recording looks at it less often: then it lags, by a look at most.
func TestProbe(t *testing.T) {
	p, code, stderr := probed(t, tools(t).normal, "FAKE_COUNT=2 FAKE_PUBLISH_MS=20", "--for", "500ms")
	if code != 0 || stderr != "" || len(p.Devices) != 2 || p.DurationNS < 500e6 || p.Hz != 200 || p.Driver != "570.86.10" {
		t.Fatalf("exit %d, %s, %+v", code, stderr, p)
	}
	c := p.Channels[0]
	if c.Quantity != trace.Energy || c.Last == nil || len(c.Failures) > 0 || c.Period.Ticks < 2 || c.Period.Mean < 20e6-c.Period.Look {
		t.Errorf("%+v", c)
	}
	i := slices.IndexFunc(p.Channels, func(c trace.Probed) bool { return c.Quantity == trace.Temperature })
	if c := p.Channels[i]; c.Period.Mean != 0 || c.Period.Looks < 2 || *c.Last != 45 {
		t.Errorf("a temperature that stood still: %+v", c)
	}
	b := p.Bases[0]
	if len(p.Bases) != 1 || b.Base != "nv.gpu" || len(b.Channels) != 2 || b.Reason != "" || *b.WindowNS != 150*record.UsualLook {
		t.Errorf("%+v", p.Bases)
	}
}

// What failed is counted by its reason, and what stood still has no period.
func TestProbeFrozen(t *testing.T) {
	p, code, _ := probed(t, tools(t).normal, "FAKE_DROP=1:0 FAKE_ENERGY=frozen", "--for", "50ms")
	if code != 0 || p.Bases == nil || len(p.Bases) != 0 {
		t.Errorf("exit %d, %+v: a GPU of which nothing can be read is in a base", code, p.Bases)
	}
	p, _, _ = probed(t, tools(t).normal, "FAKE_COUNT=1 FAKE_ENERGY=frozen", "--for", "50ms")
	if b := p.Bases[0]; b.PeriodNS != nil || b.Reason != trace.NoPeriod || p.Channels[0].Period.Looks < 2 {
		t.Errorf("%+v", p)
	}
	p, _, _ = probed(t, tools(t).normal, "FAKE_COUNT=1 FAKE_DROP=0:500", "--for", "700ms")
	if c := p.Channels[0]; c.Failures["gpu-lost"] < 1 || c.Last == nil {
		t.Errorf("%+v", c)
	}
}

// A list reads no value, and a machine with nothing to read says so.
func TestProbeList(t *testing.T) {
	p, code, _ := probed(t, tools(t).normal, "FAKE_COUNT=1", "--for", "0")
	if code != 0 || p.DurationNS != 0 || len(p.Channels) < 5 || p.Channels[0].Last != nil || p.Bases[0].Reason != trace.NoPeriod {
		t.Errorf("exit %d, %+v", code, p)
	}
	for _, d := range []string{"0", "20ms"} {
		p, code, _ = probed(t, "libno-such-nvml.so.1", "", "--for", d)
		if code != 0 || p.None == nil || p.None.Reason != "no-nvml" || len(p.Bases) > 0 {
			t.Errorf("exit %d, %+v", code, p)
		}
	}
	c, stdout, stderr := program(t, "", "probe", "--nvml-library", "libno-such-nvml.so.1", "--require", "nvml.gpu")
	if code := exited(t, c, c.Run); code != 4 || stdout.Len() > 0 {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
}
