package main

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// endpointCommands are:
//
//	exits CODE COMMAND ARG...          the exit code is exactly CODE
//	endpoint NAME                      start a scripted endpoint, bind candidate NAME to it, set $NAME to its address
//	endpoint NAME stop | start         it dies; it is back at the same address
//	endpoint NAME serve ID [DIGIT]     it now serves model ID, of digest DIGIT 64 times
//	endpoint NAME spoil KIND [ITEM...] a fault at these items, at every chat request, or at * every request
//	endpoint NAME say TEXT ITEM...     another answer than the reference; ITEM@SEED for one seed, with a concurrency of 1
//	endpoint NAME mend                 take faults and answers back
//	endpoint NAME hold ITEM...         requests for these items wait until
//	endpoint NAME release
//	endpoint NAME await ITEM           until the item has been asked for
//	asked NAME [N | ITEM...]           that many chat requests, or for these items, since the last look
//	seeds NAME ITEM SEED...            its requests since the last look had these seeds; does not count as a look
//	untouched NAME                     no request of any kind since the last look
//	port NAME...                       set each $NAME to an address that nobody listens on
//	answers ADDRESS                    somebody listens there, or soon will
//	silent ADDRESS                     nobody does
//
// The preflight asks for items called generate and json, a capacity cell for
// items called load.
var endpointCommands = map[string]command{
	"exits":     simple(2, 99, cmdExits),
	"endpoint":  simple(1, 99, cmdEndpoint),
	"asked":     simple(1, 99, cmdAsked),
	"seeds":     simple(3, 99, cmdSeeds),
	"untouched": simple(1, 1, cmdUntouched),
	"port":      simple(1, 9, cmdPort),
	"answers":   simple(1, 1, cmdAnswers),
	"silent":    simple(1, 1, cmdSilent),
}

type endpointsKey struct{}

type endpoints struct {
	tb   testing.TB
	dir  string
	byID map[string]*scripted
}

func of(ts *testscript.TestScript, name string) *scripted {
	s := ts.Value(endpointsKey{}).(*endpoints).byID[name]
	if s == nil {
		ts.Fatalf("no endpoint %s", name)
	}
	return s
}

// cmdExits wants one of the exit codes in its first argument: 0 or 0,3.
func cmdExits(ts *testscript.TestScript, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if !slices.Contains(strings.Split(args[0], ","), strconv.Itoa(got)) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

func cmdEndpoint(ts *testscript.TestScript, args []string) {
	all := ts.Value(endpointsKey{}).(*endpoints)
	name := args[0]
	if len(args) == 1 {
		s := newScripted(all.tb, name, filepath.Join(all.dir, "items.jsonl"))
		all.byID[name] = s
		ts.Setenv(name, s.url())
		ts.Setenv(bindVariable(name), s.url())
		return
	}
	s, rest := of(ts, name), args[2:]
	switch args[1] {
	case "stop":
		s.stop()
	case "start":
		s.start()
	case "serve":
		m := llmtest.Model{ID: rest[0], Digest: digests[name], Context: 512}
		if len(rest) > 1 {
			m.Digest = strings.Repeat(rest[1], 64)
		}
		s.serve(m)
	case "tokens": // of a word
		n, err := strconv.Atoi(rest[0])
		ts.Check(err)
		s.tokenise(n)
	case "spoil":
		s.spoil(rest[0], rest[1:]...)
	case "say":
		s.say(unescape(ts, rest[0]), rest[1:]...)
	case "mend":
		s.mend()
	case "hold":
		s.hold(rest...)
	case "await":
		ts.Check(s.await(rest[0]))
	case "release":
		s.release()
	default:
		ts.Fatalf("an endpoint cannot %s", args[1])
	}
}

func bindVariable(name string) string { return "CUPEL_BIND_" + strings.ToUpper(name) }

func cmdAsked(ts *testscript.TestScript, args []string) {
	got := of(ts, args[0]).look()
	if len(args) == 1 {
		return
	}
	if n, err := strconv.Atoi(args[1]); err == nil && len(args) == 2 {
		if len(got) != n {
			ts.Fatalf("%d chat requests, want %d: %v", len(got), n, got)
		}
		return
	}
	if want := slices.Sorted(slices.Values(args[1:])); !slices.Equal(got, want) {
		ts.Fatalf("asked for %v, want %v", got, want)
	}
}

func cmdSeeds(ts *testscript.TestScript, args []string) {
	s := of(ts, args[0])
	s.mu.Lock()
	got := slices.Sorted(slices.Values(s.seeds[args[1]]))
	s.mu.Unlock()
	if want := strings.Join(args[2:], " "); strings.Trim(fmt.Sprint(got), "[]") != want {
		ts.Fatalf("seeds %v, want %s", got, want)
	}
}

func cmdPort(ts *testscript.TestScript, args []string) {
	for _, name := range args {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		defer l.Close() // together, so that no two are the same
		ts.Setenv(name, l.Addr().String())
	}
}

func cmdAnswers(ts *testscript.TestScript, args []string) {
	for late := time.Now().Add(patience); !listens(args[0]); runtime.Gosched() {
		if time.Now().After(late) {
			ts.Fatalf("nobody listens at %s", args[0])
		}
	}
}

func cmdSilent(ts *testscript.TestScript, args []string) {
	if listens(args[0]) {
		ts.Fatalf("somebody listens at %s", args[0])
	}
}

func listens(address string) bool {
	c, err := net.Dial("tcp", address)
	if err == nil {
		c.Close()
	}
	return err == nil
}

func cmdUntouched(ts *testscript.TestScript, args []string) {
	s := of(ts, args[0])
	s.mu.Lock()
	hits := s.hits
	s.mu.Unlock()
	if s.look(); hits != 0 {
		ts.Fatalf("%d requests, want none", hits)
	}
}
