//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/score"
)

// eachBackend runs a test in every sandbox that works here, and says loudly
// which does not.
func eachBackend(t *testing.T, test func(t *testing.T, s *Sandbox)) {
	t.Helper()
	for _, backend := range []string{Namespaces, Bubblewrap} {
		t.Run(backend, func(t *testing.T) {
			s := New(Options{Backend: backend})
			if _, err := s.native(); err != nil {
				t.Skipf("NOT TESTED: no sandbox by %s here: %v", backend, err)
			}
			test(t, s)
		})
	}
}

func runIn(t *testing.T, s *Sandbox, language, source string, l score.Limits) (score.Outcome, error) {
	t.Helper()
	p := score.Program{Language: language, Limits: l, Args: []string{"/work/main"},
		Files: []score.File{{Name: "main", Data: []byte(source)}}}
	o, err := s.Run(t.Context(), p, []byte("from stdin"))
	if u, ok := err.(*score.Undetermined); ok && u.Code == score.ReasonNoRuntime {
		t.Skipf("NOT TESTED: %v", err)
	}
	return o, err
}

func TestPrograms(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Sandbox) {
		for name, tc := range map[string]struct {
			language, source string
			want             outcome
		}{
			"python":         {"python", "import sys\nprint(sys.stdin.read())\nsys.exit(4)", outcome{exit: 4, stdout: "from stdin\n"}},
			"python threads": {"python", "import threading\nt=[threading.Thread(target=print, args=(i,)) for i in range(4)]\n[x.start() for x in t]\n[x.join() for x in t]", outcome{stdout: "3"}},
			"node":           {"node", "console.log(require('fs').readFileSync(0, 'utf8')); process.exitCode = 4", outcome{exit: 4, stdout: "from stdin\n"}},
			"sh":             {"sh", "cat; exit 4", outcome{exit: 4, stdout: "from stdin"}},
			"sh pipeline":    {"sh", "seq 3 | sort -r | head -1", outcome{stdout: "3\n"}},
			"signal":         {"sh", "kill -TERM $$", outcome{exit: 143}},
			"killed itself":  {"sh", "kill -KILL $$", outcome{exit: 137}},
			"broken pipe":    {"sh", "trap; yes | head -1", outcome{stdout: "y\n"}},
			"own files":      {"sh", "echo a > b && echo c > /tmp/d && cat b /tmp/d && pwd && echo $HOME", outcome{stdout: "a\nc\n/work\n/work\n"}},
			"environment":    {"sh", "env | sort", outcome{stdout: "HOME=/work\nLANG=C.UTF-8\nPATH="}},
			"nobody else":    {"sh", "ls -d /proc/[0-9]* | wc -l | { read n; test $n -le 6 && echo few; }", outcome{stdout: "few"}},
			"utf-8":          {"python", "print('é', len('é'))", outcome{stdout: "é 1"}},
		} {
			t.Run(name, func(t *testing.T) {
				o, err := runIn(t, s, tc.language, tc.source, score.Limits{})
				tc.want.check(t, o, err)
			})
		}
	})
}

// The same program prints the same: addresses, hashes of strings, and the
// order of a set.
func TestDeterminism(t *testing.T) {
	const source = "print(object(), hash('a'), {'x','y','z','w'}, id(print))"
	eachBackend(t, func(t *testing.T, s *Sandbox) {
		first, err := runIn(t, s, "python", source, score.Limits{})
		if err != nil || first.Exit != 0 {
			t.Fatalf("%+v %v", first, err)
		}
		for range 3 {
			again, err := runIn(t, s, "python", source, score.Limits{})
			if err != nil || string(again.Stdout) != string(first.Stdout) {
				t.Errorf("printed %q, then %q, %v", first.Stdout, again.Stdout, err)
			}
		}
	})
}

// Each limit ends the program with its name.
func TestLimits(t *testing.T) {
	small := score.Limits{CPU: time.Second, Wall: time.Minute, Memory: 128 << 20, Output: 1 << 16, FileSize: 1 << 20, Processes: 16}
	quick := small
	quick.Wall = time.Second
	eachBackend(t, func(t *testing.T, s *Sandbox) {
		for name, tc := range map[string]struct {
			language, source string
			limits           score.Limits
			want             outcome
		}{
			"endless loop":           {"python", "while True: pass", small, outcome{limit: score.LimitCPU}},
			"endless loop in node":   {"node", "for(;;);", score.Limits{CPU: time.Second}, outcome{limit: score.LimitCPU}},
			"endless loop, stubborn": {"python", "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", small, outcome{limit: score.LimitCPU}},
			"endless loops":          {"sh", "for i in 1 2 3; do (while :; do :; done) & done; wait", small, outcome{limit: score.LimitCPU}},
			"sleep":                  {"python", "import time\ntime.sleep(100)", quick, outcome{limit: score.LimitWall}},
			"waits for nothing":      {"sh", "sleep 100 & wait", quick, outcome{limit: score.LimitWall}},
			"fork bomb":              {"sh", "f() { f | f & f; }; f", small, outcome{limit: score.LimitProcesses}},
			"fork bomb, python":      {"python", "import os, time\nwhile True:\n  try:\n    os.fork()\n  except OSError:\n    time.sleep(.01)", small, outcome{limit: score.LimitProcesses}},
			"thread bomb":            {"python", "import threading, time\nfor i in range(100): threading.Thread(target=time.sleep, args=(9,)).start()", score.Limits{Processes: 16, Memory: 4 << 30, Wall: 20 * time.Second}, outcome{limit: score.LimitProcesses}},
			"memory bomb":            {"python", "a=[]\nwhile True: a.append(bytearray(1<<20))", small, outcome{exit: 1, stderr: "MemoryError"}},
			"memory bomb, one piece": {"python", "bytearray(1<<40)", small, outcome{exit: 1, stderr: "MemoryError"}},
			"memory bomb, shared":    {"python", "import mmap\nm=mmap.mmap(-1, 1<<40)", small, outcome{exit: 1, stderr: "Cannot allocate memory"}},
			"memory bomb, children":  {"python", "import os, time\nfor i in range(8):\n  if os.fork()==0:\n    a=bytearray(b'x')*(40<<20)\n    time.sleep(100)\ntime.sleep(100)", small, outcome{limit: score.LimitMemory}},
			"output flood":           {"sh", "yes", small, outcome{limit: score.LimitOutput, stdout: "y\ny\n"}},
			"output flood on stderr": {"python", "import sys\nwhile True: sys.stderr.write('flood')", small, outcome{limit: score.LimitOutput, stderr: "flood"}},
			"large file":             {"sh", "dd if=/dev/zero of=/tmp/f bs=64k 2>&1; ls -l /tmp/f", small, outcome{stdout: " 1048576 "}},
			"many files":             {"sh", "for i in $(seq 20); do head -c 1000000 /dev/zero > /tmp/$i || exit 5; done", small, outcome{exit: 5, stderr: "No space left"}},
			"open files":             {"python", "f=[open('/dev/null') for i in range(1000)]", small, outcome{exit: 1, stderr: "Too many open files"}},
		} {
			t.Run(name, func(t *testing.T) {
				o, err := runIn(t, s, tc.language, tc.source, tc.limits)
				// A shell ends when it cannot fork: where the kernel counts the
				// processes, this bomb may be over between two looks at it.
				if name == "fork bomb" && err == nil && o.Limit == "" && o.Exit == 2 && strings.Contains(string(o.Stderr), "Cannot fork") {
					tc.want = outcome{exit: 2}
				}
				tc.want.check(t, o, err)
				if int64(len(o.Stdout)) > max(tc.limits.Output, 1<<20) {
					t.Errorf("%d bytes were kept", len(o.Stdout))
				}
			})
		}
	})
}

// What tries to get out does not, as seen from outside.
func TestEscapes(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("secret-content"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CUPEL_TEST_SECRET", "secret-content")
	address, accepted := listen(t)
	_, port, _ := strings.Cut(address, ":")
	home, _ := os.UserHomeDir()
	dial := func(family, to string) string {
		return fmt.Sprintf("import socket\ns=socket.socket(socket.%s)\ns.connect(%s)", family, to)
	}
	call := func(name string, args string) string {
		return "import ctypes, os\nl=ctypes.CDLL(None, use_errno=True)\nr=l." + name + "(" + args + ")\ne=ctypes.get_errno()\nprint(r, os.strerror(e))\nraise SystemExit(0 if r==0 else 3)"
	}
	programs := map[string]struct {
		language, source string
		want             outcome
	}{
		"connect here":       {"python", dial("AF_INET", "('127.0.0.1',"+port+")"), outcome{exit: 1, stderr: "Network is unreachable"}},
		"connect here, node": {"node", "require('net').connect(" + port + ", '127.0.0.1')", outcome{exit: 1, stderr: "ENETUNREACH"}},
		"connect out":        {"python", dial("AF_INET", "('192.0.2.1',80)"), outcome{exit: 1, stderr: "Network is unreachable"}},
		"connect out, v6":    {"python", dial("AF_INET6", "('2001:db8::1',80)"), outcome{exit: 1, stderr: "Network is unreachable"}},
		"datagram":           {"python", "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1',53))", outcome{exit: 1, stderr: "Network is unreachable"}},
		"name":               {"python", "import socket\nsocket.getaddrinfo('example.com', 80)", outcome{exit: 1}},
		"the machine's host": {"python", "import socket\nsocket.socket(40)", outcome{exit: 1, stderr: "Network is unreachable"}},
		"interfaces":         {"python", "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", outcome{exit: 1, stderr: "Network is unreachable"}},
		"accounts":           {"sh", "cat /etc/passwd /etc/shadow", outcome{exit: 1, stderr: "No such file"}},
		"home":               {"sh", "ls -A " + home + "/.ssh " + home + "/.config /home", outcome{exit: 2, stderr: "No such file"}},
		"secret":             {"sh", "cat " + secret, outcome{exit: 1, stderr: "No such file"}},
		"secret by root":     {"sh", "cat /proc/1/root" + secret + " || cat /proc/self/root/../.." + secret, outcome{exit: 1}},
		"write secret":       {"sh", "echo broken > " + secret, outcome{exit: 2}},
		"write system":       {"sh", "echo > /usr/bin/cupel-test", outcome{exit: 2}},
		"write root":         {"sh", "mkdir /cupel-test", outcome{exit: 1, stderr: "Read-only file system"}},
		"write settings":     {"sh", "echo x > /etc/cupel-test", outcome{exit: 2, stderr: "Read-only file system"}},
		"write kernel":       {"sh", "echo '|/tmp/x' > /proc/sys/kernel/core_pattern", outcome{exit: 2}},
		"symbolic link":      {"sh", "ln -s " + dir + " /work/out && echo broken > /work/out/secret", outcome{exit: 2}},
		"link to accounts":   {"sh", "ln -s /etc/passwd /work/link && cat /work/link", outcome{exit: 1, stderr: "No such file"}},
		"hard link":          {"sh", "ln /usr/bin/env /work/env", outcome{exit: 1}},
		"mount":              {"python", call("mount", "b'none', b'/tmp', b'tmpfs', 0, None"), outcome{exit: 3, stdout: "Operation not permitted"}},
		"remount":            {"python", call("mount", "None, b'/', None, 32, None"), outcome{exit: 3, stdout: "Operation not permitted"}},
		"own user namespace": {"python", call("unshare", "0x10000000"), outcome{exit: 3, stdout: "Operation not permitted"}},
		"become root":        {"python", call("setuid", "1234"), outcome{exit: 3, stdout: "-1"}},
		"clone namespaces":   {"sh", "unshare -Ur id", outcome{exit: 1, stderr: "not permitted"}},
		"device":             {"python", "import os, stat\nos.mknod('/tmp/d', stat.S_IFBLK|0o600, os.makedev(254,0))", outcome{exit: 1, stderr: "not permitted"}},
		"trace the keeper":   {"python", call("ptrace", "16, os.getppid(), 0, 0"), outcome{exit: 3, stdout: "not permitted"}},
		"keeper's memory":    {"python", "import os\nopen('/proc/%d/mem' % os.getppid(), 'r+b')", outcome{exit: 1}},
		"keeper's pipes":     {"sh", "for f in 0 1 2 3 4 5 6 7 8 9; do cat < /proc/$PPID/fd/$f && echo open; echo forged > /proc/$PPID/fd/$f && echo open; done; true", outcome{stderr: "ermission denied"}},
		"open pipes":         {"python", "import os\nprint(sorted(int(f) for f in os.listdir('/proc/self/fd'))[:4])", outcome{stdout: "[0, 1, 2, 3]"}}, // 3 is the listing's own
		"signals":            {"python", "import os, signal\nfor p in (1, os.getppid(), " + fmt.Sprint(os.Getpid()) + "):\n  for s in (1, 2, 3, 6, 10, 12, 13, 14, 15):\n    try: os.kill(p, s)\n    except OSError: pass\nprint('sent')", outcome{stdout: "sent"}},
		"kernel keys":        {"python", call("syscall", "250, 0, 0, 0"), outcome{exit: 3, stdout: "not permitted"}},
	}
	eachBackend(t, func(t *testing.T, s *Sandbox) {
		for name, tc := range programs {
			t.Run(name, func(t *testing.T) {
				o, err := runIn(t, s, tc.language, tc.source, score.Limits{})
				tc.want.check(t, o, err)
				if all := string(o.Stdout) + string(o.Stderr); strings.Contains(all, "secret-content") || strings.HasPrefix(string(o.Stdout), "open") {
					t.Errorf("the secret came out: %s", all)
				}
			})
		}
		o, err := runIn(t, s, "sh", "cat /proc/*/environ | tr '\\0' '\\n'; env", score.Limits{})
		if err != nil || strings.Contains(string(o.Stdout), "secret-content") {
			t.Errorf("the environment is seen inside: %s, %v", o.Stdout, err)
		}
	})
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret-content" {
		t.Errorf("the file outside holds %q, %v", b, err)
	}
	for _, made := range []string{"/usr/bin/cupel-test", "/cupel-test", "/etc/cupel-test"} {
		if _, err := os.Lstat(made); err == nil {
			t.Errorf("%s was made outside", made)
		}
	}
	if accepted() {
		t.Error("a connection came out of the sandbox")
	}
}

// What a program kills of its own sandbox ends the sandbox, and nothing else.
func TestKillsEverything(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Sandbox) {
		_, err := runIn(t, s, "python", "import os\nfor p in (os.getppid(), 1, -1):\n  try: os.kill(p, 9)\n  except OSError: pass\nprint('alive')", score.Limits{Wall: 20 * time.Second})
		if err != nil && !strings.HasPrefix(err.Error(), score.ReasonKilled) {
			t.Errorf("%v", err)
		}
		o, err := runIn(t, s, "sh", "echo next", score.Limits{})
		outcome{stdout: "next"}.check(t, o, err)
	})
}

// A program's daemons end with it, though they hold its output open, ignore
// signals and left its session.
func TestLeavesNothingBehind(t *testing.T) {
	eachBackend(t, func(t *testing.T, s *Sandbox) {
		marker := fmt.Sprintf("9%d.%d", os.Getpid(), time.Now().UnixNano()%1e9)
		began := time.Now()
		o, err := runIn(t, s, "sh", "trap '' HUP TERM INT; setsid sleep "+marker+" & setsid sleep "+marker+" > /dev/null 2>&1 & echo done", score.Limits{Wall: 50 * time.Second})
		outcome{stdout: "done"}.check(t, o, err)
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("the daemons were waited for, %v", took)
		}
		for tries := 0; ; tries++ { // bubblewrap's last process ends after bubblewrap
			left := processesWith(marker)
			if len(left) == 0 {
				return
			}
			if time.Since(began) > 45*time.Second {
				t.Fatalf("still there: %v", left)
			}
		}
	})
}

func processesWith(marker string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(line), marker) && f != fmt.Sprintf("/proc/%d/cmdline", os.Getpid()) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
