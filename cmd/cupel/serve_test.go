package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// serveLab is a lab whose candidates are started by the campaign's commands:
// q8_0 by a script that stays in front until it is told to end or to die, f16 by
// one that leaves a server in the background.
type serveLab struct {
	*lab
	f16, q8 string // addresses
}

const serveScripts = `-- front.sh
exec 2>/dev/null # of a cupel that was killed nobody reads it
cupel embedded-engine $1 --listen $2 >server.log 2>&1 &
pid=$!
echo $pid >>pids
trap 'kill $pid; wait $pid; echo ended $1 >>calls; exit 0' TERM
echo front $1 >>calls
while kill -0 $pid 2>/dev/null; do
	if [ -e die ]; then kill -9 $pid; echo CUDA error: unspecified launch failure; exit 7; fi
	sleep 0.02
done
exit 1
-- up.sh
cupel embedded-engine $1 --listen $2 >server.log 2>&1 &
echo $! >$1.pid
echo $! >>pids
echo up $1 >>calls
-- down.sh
echo down $1 >>calls
kill $(cat $1.pid)
-- campaign.yaml
apiVersion: cupel/v1
campaign: hooks
decision: {question: "Is Q8_0 as fast?", kind: quantisation}
candidates:
  f16:
    role: baseline
    model: {sha256: 588cbf0ced4e0bf066607ca35ae37d221813ce58721b6278cd68df05afa184b9}
    servedName: tiny-f16
    sampling: {maxTokens: 8}
    serve:
      start: [sh, up.sh, tiny-f16, F16]
      stop: [sh, down.sh, tiny-f16]
      timeout: 2m
  q8_0:
    from: f16
    role: candidate
    model: {sha256: 71e02d4fe19aa1453f9c609f753e88d69c3b0a406044d34922217f7d17ffcdb6}
    servedName: tiny-q8_0
    serve:
      start: [sh, front.sh, tiny-q8_0, Q8]
preflight: {checks: [health]}
measure:
  load:
    kind: capacity
    concurrency: [1]
    requests: 5000
    warmup: 0
    prompt: {template: "Repeat these {words} words:\n{word-list}"}
    output: {words: 2}
decide:
  guards:
    fast: {on: load, rule: "candidate.completed > 0.0"}
publish: {to: findings}
`

func newServeLab(t *testing.T) *serveLab {
	t.Helper()
	l := &serveLab{lab: &lab{t: t, dir: t.TempDir(), env: os.Environ()}}
	for name, value := range homes(l.dir) {
		l.env = append(l.env, name+"="+value)
	}
	for _, at := range []*string{&l.f16, &l.q8} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		*at = ln.Addr().String()
	}
	text := strings.NewReplacer("F16]", l.f16+"]", "Q8]", l.q8+"]").Replace(serveScripts)
	for file := range strings.SplitSeq(text, "-- ") {
		name, body, ok := strings.Cut(file, "\n")
		if ok && strings.Contains(name, ".") {
			l.write(name, body)
		}
	}
	l.write("bindings.yaml", fmt.Sprintf("f16: {url: \"http://%s/v1\"}\nq8_0: {url: \"http://%s/v1\"}\n", l.f16, l.q8))
	t.Cleanup(l.sweep)
	return l
}

// sweep ends servers that a failed test has left.
func (l *serveLab) sweep() {
	b, _ := os.ReadFile(l.path("pids"))
	for line := range strings.Lines(string(b)) {
		var pid int
		if _, err := fmt.Sscan(line, &pid); err == nil && pid > 1 && isEngine(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// isEngine reports whether a process is a server of these tests.
func isEngine(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.Contains(string(b), "embedded-engine")
}

func (l *serveLab) write(name, text string) {
	l.t.Helper()
	if err := os.WriteFile(l.path(name), []byte(text), 0o666); err != nil {
		l.t.Fatal(err)
	}
}

func (l *serveLab) calls() string {
	b, _ := os.ReadFile(l.path("calls"))
	_ = os.Remove(l.path("calls"))
	return strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", ", ")
}

func (l *serveLab) down() {
	l.t.Helper()
	for _, at := range []string{l.f16, l.q8} {
		if listens(at) {
			l.t.Errorf("something is left at %s", at)
		}
	}
}

// measuring starts a run and returns while the cell of a candidate is measured.
func (l *serveLab) measuring(candidate string) *process {
	l.t.Helper()
	p := l.start("run", "campaign.yaml", "--serve")
	p.stderr.await(l.t, "measure/"+candidate+"/load/c=1-t1"+strings.Repeat(" ", 44-len("measure/"+candidate+"/load/c=1-t1"))+" running")
	return p
}

// TestServeInterrupted: one Ctrl-C stops what was started, and so does a second
// one that comes while requests are in flight.
func TestServeInterrupted(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 2} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			t.Parallel()
			l := newServeLab(t)
			p := l.measuring("f16")
			go p.drain()
			for range times {
				if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
				p.stderr.await(t, "finishing requests in flight")
			}
			p.wait(130)
			l.down()
			if got := l.calls(); got != "up tiny-f16, down tiny-f16" {
				t.Error(got)
			}
			if r := l.run(0, "plan", "campaign.yaml", "--serve"); strings.Contains(r.stderr, "earlier run") {
				t.Error(r.stderr)
			}
		})
	}
}

// TestServeKilled: after kill -9 the server is still there. A run without
// --serve says so, the next one with it stops it first, with the command or by
// its process group.
func TestServeKilled(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"background": "down tiny-f16, up tiny-f16, down tiny-f16, front tiny-q8_0, ended tiny-q8_0",
		"front":      "ended tiny-f16, front tiny-f16, ended tiny-f16, front tiny-q8_0, ended tiny-q8_0",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := newServeLab(t)
			todo := "give the command: sh down.sh tiny-f16"
			if kind == "front" {
				l.edit("up.sh, tiny-f16", "front.sh, tiny-f16")
				l.edit("      stop: [sh, down.sh, tiny-f16]\n", "")
				todo = "or look for its processes and end them"
			}
			p := l.measuring("f16")
			p.kill()
			if !listens(l.f16) {
				t.Fatal("the server died with cupel")
			}
			l.calls()
			l.edit("requests: 5000", "requests: 2")
			warned := l.run(4, "run", "campaign.yaml", "--only", "pin") // q8_0 is not there
			if !strings.Contains(warned.stderr, "cupel: candidate f16 was started by an earlier run that died, and may still run; run with --serve to put that right, ") || !strings.Contains(warned.stderr, todo) {
				t.Error(warned.stderr)
			}
			p = l.start("run", "campaign.yaml", "--serve")
			p.drain()
			_ = p.cmd.Wait() // whatever the decision
			if !strings.Contains(p.stderr.String(), "candidate f16 was started by an earlier run that died; stopping it first\n") {
				t.Error(p.stderr)
			}
			if got := l.calls(); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			l.down()
		})
	}
}

// TestServerDies: the failed step says how the server ended and what it said.
func TestServerDies(t *testing.T) {
	t.Parallel()
	l := newServeLab(t)
	l.edit("role: candidate", "role: candidate\n    coResident: true")
	l.edit("requests: 5000", "requests: 300")
	p := l.measuring("q8_0")
	go p.drain()
	l.write("die", "")
	r := p.wait(4)
	if !strings.Contains(r.stderr, "(the server of q8_0 has ended with status 7; its last words: CUDA error: unspecified launch failure); its log is kept with the run as serve-q8_0.log") {
		t.Error(r.stderr)
	}
	l.down()
	logs, err := filepath.Glob(l.path(".cupel", "runs", "*", "serve-q8_0.log"))
	if err != nil || len(logs) != 1 {
		t.Errorf("logs %v, %v", logs, err)
	}
}

// TestServeRestores: what was found running and had to make room is there again
// after Ctrl-C, and after a failure.
func TestServeRestores(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*serveLab, *process) int{
		"Ctrl-C": func(l *serveLab, p *process) int {
			must(p.cmd.Process.Signal(os.Interrupt))
			return 130
		},
		"failure": func(l *serveLab, _ *process) int {
			l.write("die", "")
			return 4
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newServeLab(t)
			l.edit("requests: 5000", "requests: 400")
			up := exec.Command("sh", "up.sh", "tiny-f16", l.f16)
			up.Dir = l.dir
			if err := up.Run(); err != nil {
				t.Fatal(err)
			}
			for !listens(l.f16) {
				runtime.Gosched()
			}
			p := l.measuring("q8_0")
			go p.drain()
			r := p.wait(end(l, p))
			if got := l.calls(); !strings.HasPrefix(got, "up tiny-f16, down tiny-f16, front tiny-q8_0, ") || !strings.HasSuffix(got, "up tiny-f16") {
				t.Error(got)
			}
			if !strings.Contains(r.stderr, "f16: starting it again, as it was found running\n") || !listens(l.f16) || listens(l.q8) {
				t.Error(r.stderr)
			}
		})
	}
}
