//go:build amd64 || arm64

package sandbox

import (
	"os"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/score"
)

func TestUsage(t *testing.T) {
	var u usage
	stat := []byte("7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 20 30 20 0 3 0 99 1000 12 18446744073709551615\n")
	u.add(stat)
	u.memory = residentOf("", stat)
	if want := (usage{threads: 3, memory: 12 * int64(os.Getpagesize()), cpu: 2500 * time.Millisecond}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
	l := jobLimits{CPU: 1, Memory: 1 << 20, Processes: 3}
	for want, u := range map[score.Limit]usage{
		"":                   {threads: 3, memory: 1 << 20, cpu: 2 * time.Second},
		score.LimitProcesses: {threads: 4},
		score.LimitMemory:    {memory: 1<<20 + 1},
		score.LimitCPU:       {cpu: 2*time.Second + 1},
	} {
		if got := l.broken(u); got != want {
			t.Errorf("%+v: %q, want %q", u, got, want)
		}
	}
}

func FuzzUsage(f *testing.F) {
	f.Add([]byte("7 (a) S 1 7"))
	f.Add([]byte(""))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, stat []byte) {
		var u usage
		u.add(stat)
		residentOf("", stat)
	})
}

func TestPrefix(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	for path, want := range map[string]string{
		"/usr/bin/python3.11":                        "",
		"/opt/python/bin/python3":                    "/opt/python",
		"/home/ada/.pyenv/versions/3.12/bin/python3": "/home/ada/.pyenv/versions/3.12",
		"/nix/store/abc-python/bin/python3":          "/nix/store",
		"/home/ada/bin/python3":                      "refused",
		"/home/bob/bin/python3":                      "refused",
		"/home/python3":                              "refused",
		"/python3":                                   "refused",
	} {
		got, err := prefixOf(path)
		if err != nil {
			got = "refused"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
