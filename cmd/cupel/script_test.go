package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"gopkg.in/yaml.v3"

	"github.com/cupel-dev/cupel/stages/llm/llmtest"
)

// TestMain makes the test binary the cupel command as well: scripts and tests
// start it as a process of its own, and so does a binding to embedded:NAME.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"cupel": limited(main)})
}

// TestScript runs testdata/script. Beside the commands of testscript:
//
//	exits CODE cupel ARG...       the exit code is exactly CODE
//	endpoint NAME                 start a scripted endpoint, bind candidate NAME to it and set $NAME
//	endpoint NAME stop | start    it dies; it is back at the same address
//	endpoint NAME serve ID [DIGIT]  it says that it serves model ID of digest DIGIT x 64
//	endpoint NAME break KIND [ITEM...]  a fault at these items, at every chat request, or at * every request
//	endpoint NAME say TEXT ITEM...  another answer than the reference
//	endpoint NAME mend            take breaks and sayings back
//	endpoint NAME hold ITEM... | await ITEM | release
//	asked NAME [N | ITEM...]      that many chat requests, or for these items, since the last look
//	untouched NAME                no request of any kind since the last look
//	flip FILE [OFFSET]            invert the bits of one byte
//	object STEP:OUTPUT            set $object to the path of a stored output
//	sums DIR                      every file of a finding is in SHA256SUMS, and right
//	same FILE...                  the files have equal content
//	jsonlines FILE                every line is a JSON document
//	replace FILE OLD NEW          OLD is there exactly once; \n is a line end
//	tojson YAML JSON CUE          the same document in the other two forms
//	finding                       set $finding to the folder of the only finding
//	readenv NAME FILE             set $NAME to the first line of FILE
//	tree DIR FILE                 write the names, sizes and digests of all files to FILE
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		Setup:              setupScript,
		RequireUniqueNames: true, ContinueOnError: os.Getenv("CONT")!="",
		UpdateScripts:      os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "endpoint": cmdEndpoint, "asked": cmdAsked, "untouched": cmdUntouched,
			"flip": cmdFlip, "object": cmdObject, "sums": cmdSums, "same": cmdSame, "jsonlines": cmdJSONLines, "tree": cmdTree,
			"replace": cmdReplace, "tojson": cmdToJSON, "finding": cmdFinding, "readenv": cmdReadEnv,
		},
	})
}

type endpointsKey struct{}

// setupScript gives a script a machine of its own: leases are kept in the
// user's cache directory, and two scripts must not see each other's.
func setupScript(env *testscript.Env) error {
	for _, name := range []string{"campaign.yaml", "items.jsonl"} {
		if err := copyNew(filepath.Join("testdata", name), filepath.Join(env.WorkDir, name)); err != nil {
			return err
		}
	}
	for name, value := range homes(env.WorkDir) {
		env.Setenv(name, value)
	}
	tb, ok := env.T().(testing.TB)
	if !ok {
		return errors.New("testscript no longer hands out a testing.TB")
	}
	env.Values[endpointsKey{}] = &endpoints{tb, env.WorkDir, map[string]*scripted{}}
	return nil
}

func homes(dir string) map[string]string {
	return map[string]string{"HOME": filepath.Join(dir, ".home"), "XDG_CACHE_HOME": filepath.Join(dir, ".cache"), "NO_PROXY": "*"}
}

// copyNew copies a shared file that the script does not bring itself.
func copyNew(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

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

func plain(ts *testscript.TestScript, neg, ok bool, usage string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) >= 2, "exits CODE command ARG...")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func cmdEndpoint(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) >= 1, "endpoint NAME [what ...]")
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
	case "break":
		s.spoil(rest[0], rest[1:]...)
	case "say":
		s.say(rest[0], rest[1:]...)
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

func cmdAsked(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) >= 2, "asked NAME N | asked NAME ITEM...")
	got := of(ts, args[0]).look()
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

func cmdUntouched(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 1, "untouched NAME")
	s := of(ts, args[0])
	s.mu.Lock()
	hits := s.hits
	s.mu.Unlock()
	if s.look(); hits != 0 {
		ts.Fatalf("%d requests, want none", hits)
	}
}

func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 1 || len(args) == 2, "flip FILE [OFFSET]")
	name := ts.MkAbs(args[0])
	b, err := os.ReadFile(name)
	ts.Check(err)
	at := len(b) / 2
	if len(args) == 2 {
		at, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	b[at] ^= 0xff
	ts.Check(overwrite(name, b))
}

// overwrite changes a file that is read-only, as what the store keeps is.
func overwrite(name string, b []byte) error {
	return errors.Join(os.Chmod(name, 0o644), os.WriteFile(name, b, 0o644), os.Chmod(name, 0o444))
}

// cmdReplace edits a file: a script that changes one parameter says only that.
func cmdReplace(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 3, "replace FILE OLD NEW")
	name := ts.MkAbs(args[0])
	old, new_ := strings.ReplaceAll(args[1], `\n`, "\n"), strings.ReplaceAll(args[2], `\n`, "\n")
	b := ts.ReadFile(args[0])
	if strings.Count(b, old) != 1 {
		ts.Fatalf("%q is %d times in %s, want once", old, strings.Count(b, old), args[0])
	}
	ts.Check(os.WriteFile(name, []byte(strings.Replace(b, old, new_, 1)), 0o666))
}

func cmdObject(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 1, "object STEP:OUTPUT")
	name, output, _ := strings.Cut(args[0], ":")
	rec, err := recordOf(ts.MkAbs(".cupel"), name)
	ts.Check(err)
	out, ok := rec.Output(output)
	if !ok {
		ts.Fatalf("%s has no output %q", name, output)
	}
	d := out.Digest.String()
	ts.Setenv("object", filepath.Join(ts.MkAbs(".cupel"), "objects", d[:2], d))
	ts.Setenv("digest", d)
}

func cmdSums(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 1, "sums DIR")
	ts.Check(checkSums(ts.MkAbs(args[0])))
}

func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) >= 2, "same FILE FILE...")
	for _, other := range args[1:] {
		if a, b := ts.ReadFile(args[0]), ts.ReadFile(other); a != b {
			ts.Fatalf("%s and %s differ:\n%s\n%s", args[0], other, a, b)
		}
	}
}

func cmdJSONLines(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 1, "jsonlines FILE")
	ts.Check(eachJSONLine(ts.ReadFile(args[0])))
}

func cmdTree(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 2, "tree DIR FILE")
	names, err := tree(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), fmt.Appendln(nil, strings.Join(names, "\n")), 0o666))
}

func cmdToJSON(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 3, "tojson YAML JSON CUE")
	var doc any
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(args[0])), &doc))
	b, err := json.MarshalIndent(doc, "", "  ")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), append([]byte("package campaign\n\n"), b[1:len(b)-1]...), 0o666))
}

func cmdFinding(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 0, "finding")
	found, err := filepath.Glob(ts.MkAbs("findings/*-*-*-*"))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%d findings, want 1: %v", len(found), found)
	}
	ts.Setenv("finding", found[0])
}

func cmdReadEnv(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, len(args) == 2, "readenv NAME FILE")
	first, _, _ := strings.Cut(ts.ReadFile(args[1]), "\n")
	ts.Setenv(args[0], first)
}
