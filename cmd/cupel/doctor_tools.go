package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh/agent"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/sandbox"
	"github.com/cupel-dev/cupel/stages/trace"
)

// meterFinding is what the meter says, or why it says nothing.
type meterFinding struct {
	path   string
	report *hardware.Report
	err    error
}

func askMeter(ctx context.Context) meterFinding {
	at, err := findMeter()
	if err != nil {
		return meterFinding{err: err}
	}
	r, err := identifyWith(ctx, at, meterPatience)
	return meterFinding{at, r, err}
}

const getMeter = "make meter, and put bin/cupel-meter beside cupel"

func lookMeter(_ context.Context, d *doctor) []diagnosis {
	m := d.meter
	var none *meterError
	switch {
	case errors.As(m.err, &none) && none.code == hardware.NoMeter:
		return diagnose(doctorMissing, none.Error(), getMeter)
	case m.err != nil:
		return diagnose(doctorWarn, m.err.Error(), "run it by hand: cupel-meter identify")
	}
	return diagnose(doctorOK, fmt.Sprintf("cupel-meter %s at %s", m.report.Meter, m.path), "")
}

func lookGPU(_ context.Context, d *doctor) []diagnosis {
	r := d.meter.report
	switch {
	case r == nil:
		return diagnose(doctorMissing, "not known without the meter", getMeter)
	case r.GPUs == nil:
		why := r.Unknown["gpus"]
		return diagnose(doctorMissing, hardware.Means(why.Code)+": "+why.String(), gpuFixes[why.Code])
	case len(r.GPUs) == 0:
		return diagnose(doctorMissing, "the driver is there, and no GPU", "in a container, pass the GPUs through")
	}
	var out []diagnosis
	for _, g := range r.GPUs {
		out = append(out, gpuLine(r, g))
	}
	return out
}

// gpuFixes are what can be done about a reason.
var gpuFixes = map[string]string{
	hardware.NoNVML:         "install the NVIDIA driver, or pass it into the container; CUPEL_NVML_LIBRARY names the library elsewhere",
	hardware.NoCgo:          "build the meter with a C compiler: make meter",
	hardware.DriverMismatch: "reboot, or load the driver again",
	hardware.DriverMissing:  "modprobe nvidia",
	hardware.Timeout:        "look at the kernel log for Xid messages",
	hardware.NoPermission:   "run as a user who may open /dev/nvidia*",
}

func gpuLine(r *hardware.Report, g hardware.GPU) diagnosis {
	say := func(s *string) string {
		if s == nil {
			return "?"
		}
		return *s
	}
	text := fmt.Sprintf("%d: %s, %s, driver %s", g.Index, say(g.Name), say(g.UUID), say(r.Driver))
	switch {
	case g.Name == nil || g.UUID == nil:
		return diagnosis{State: doctorWarn, Says: text + ": " + whyNoName(g), Fix: "nvidia-smi -q may say more"}
	case len(g.Processes) > 0:
		return diagnosis{State: doctorWarn, Says: fmt.Sprintf("%s; %d processes compute on it now: %s", text, len(g.Processes), processList(g.Processes)), Fix: "nothing, if one of them is the engine that is to be measured"}
	case g.Persistence != nil && !*g.Persistence:
		return diagnosis{State: doctorWarn, Says: text + "; persistence mode is off, so the first request after a pause waits for the driver", Fix: "as root: nvidia-smi -pm 1"}
	}
	return diagnosis{State: doctorOK, Says: text}
}

func whyNoName(g hardware.GPU) string {
	if w, ok := g.Unknown["name"]; ok {
		return w.String()
	}
	return g.Unknown["uuid"].String()
}

func processList(all []hardware.Process) string {
	var out []string
	for _, p := range all[:min(len(all), 4)] {
		name := "?"
		if p.Name != nil {
			name = *p.Name
		}
		out = append(out, fmt.Sprintf("%d %s", p.PID, name))
	}
	return strings.Join(out, ", ")
}

// lookSandbox tries the backends one by one, as the scorer does.
func lookSandbox(context.Context, *doctor) []diagnosis {
	var works, not []string
	for _, backend := range []string{sandbox.Bubblewrap, sandbox.Namespaces} {
		if why, none := sandbox.New(sandbox.Options{Backend: backend}).Runtimes()["sandbox"]; none {
			not = append(not, strings.TrimPrefix(why, "none: "))
			continue
		}
		works = append(works, backend)
	}
	if len(works) == 0 {
		return diagnose(doctorMissing, "only WebAssembly can be run apart: "+strings.Join(not, "; "), "apt-get install bubblewrap, or allow user namespaces")
	}
	var languages []string
	for name, it := range sandbox.New(sandbox.Options{}).Runtimes() {
		if !strings.HasPrefix(it, "none: ") {
			languages = append(languages, name)
		}
	}
	slices.Sort(languages)
	says := "programs run apart by " + strings.Join(works, " or ")
	if len(languages) == 0 {
		return diagnose(doctorWarn, says+"; no interpreter is there", "install python3 or node")
	}
	return diagnose(doctorOK, says+"; interpreters: "+strings.Join(languages, ", "), "")
}

// littleDisk is what one campaign with raw answers can take.
const littleDisk = 1 << 30

func lookStore(_ context.Context, d *doctor) []diagnosis {
	kind, err := d.system.networkFS(d.store)
	if err != nil {
		return diagnose(doctorWarn, d.store+": "+unwrapAll(err).Error(), "name another place with --store")
	}
	if kind != "" {
		return diagnose(doctorWarn, fmt.Sprintf("%s is on %s, where locks and renames may not hold", d.store, kind), "use a local directory: --store DIR")
	}
	free, err := d.system.free(d.store)
	switch {
	case err != nil:
		return diagnose(doctorWarn, d.store+": free space is not known: "+unwrapAll(err).Error(), "")
	case free < littleDisk:
		return diagnose(doctorWarn, fmt.Sprintf("%s: %.1f GiB free", d.store, gibibytes(free)), "make room, or name another place with --store")
	}
	return diagnose(doctorOK, fmt.Sprintf("%s: %.1f GiB free on a local file system", d.store, gibibytes(free)), "")
}

func gibibytes(n uint64) float64 { return float64(n) / (1 << 30) }

// doctorStore is where a campaign here would keep its store.
func (a *app) doctorStore() string {
	if a.storeDir != "" {
		return a.storeDir
	}
	return filepath.Join(".", ".cupel")
}

func lookSSH(context.Context, *doctor) []diagnosis {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		return diagnose(doctorMissing, "no ssh-keygen: keys for approvals cannot be made here; cupel approve itself works without", "apt-get install openssh-client")
	}
	says := "ssh-keygen is there"
	if n, err := agentKeys(); err == nil {
		says += fmt.Sprintf(", and an agent with %d keys", n)
	} else {
		says += "; no agent, so a key with a passphrase needs a terminal"
	}
	return diagnose(doctorOK, says, "")
}

func agentKeys() (int, error) {
	conn, err := net.Dial("unix", os.Getenv("SSH_AUTH_SOCK"))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	keys, err := agent.NewClient(conn).List()
	return len(keys), err
}

func lookAge(context.Context, *doctor) []diagnosis {
	name := os.Getenv("CUPEL_AGE_IDENTITY")
	if name == "" {
		return diagnose(doctorMissing, "no identity for encrypted held-out items", "export CUPEL_AGE_IDENTITY=FILE, where a campaign has a held-out part")
	}
	if f, err := os.Open(name); err != nil {
		return diagnose(doctorWarn, "CUPEL_AGE_IDENTITY names a file that cannot be read: "+unwrapAll(err).Error(), "")
	} else {
		f.Close()
	}
	return diagnose(doctorOK, "CUPEL_AGE_IDENTITY names a file that can be read", "")
}

// lookEnergy watches the meter's counters for three seconds: a line for each base.
func lookEnergy(ctx context.Context, d *doctor) []diagnosis {
	var none *meterError
	if errors.As(d.meter.err, &none) && none.code == hardware.NoMeter {
		return diagnose(doctorMissing, "not known without the meter", getMeter)
	}
	if d.meter.path == "" {
		return diagnose(doctorMissing, "not known without the meter", "") // the meter's own line says what to do
	}
	p, err := probe(ctx, d.meter.path, probeFor)
	switch {
	case err != nil:
		return diagnose(doctorWarn, err.Error(), "run it by hand: cupel-meter probe")
	case p.None != nil:
		return diagnose(doctorMissing, "the meter reads nothing here: "+hardware.Means(p.None.Reason), "")
	case len(p.Bases) == 0:
		return diagnose(doctorMissing, "the meter reads no energy here"+missingOf(p), "")
	}
	var out []diagnosis
	for _, b := range p.Bases {
		out = append(out, baseLine(b, time.Duration(p.DurationNS)))
	}
	return out
}

func baseLine(b trace.Based, watched time.Duration) diagnosis {
	if b.PeriodNS == nil {
		return diagnosis{State: doctorWarn, Says: fmt.Sprintf("%s did not change twice in %s", b.Base, lasting(watched)), Fix: "look again under load; a counter that stands still is refused"}
	}
	return diagnosis{State: doctorOK, Says: fmt.Sprintf("%s changes every %s: 1 %% in a window of %s", b.Base, lasting(time.Duration(*b.PeriodNS)), lasting(time.Duration(*b.WindowNS)))}
}

// missingOf lists what the meter looked for, with the reasons.
func missingOf(p *trace.Probe) string {
	var why []string
	for _, m := range p.Missing {
		if s := fmt.Sprintf("%s: %s", cmp.Or(string(m.Domain), m.What), m.Reason); !slices.Contains(why, s) {
			why = append(why, s)
		}
	}
	if len(why) == 0 {
		return ""
	}
	return " (" + strings.Join(why, ", ") + ")"
}
