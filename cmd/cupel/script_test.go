package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary the cupel command as well: scripts and tests
// start it as a process of its own, and so does a binding to embedded:NAME.
func TestMain(m *testing.M) {
	skipSelfCheck = os.Getenv(noSelfCheck) != ""
	testscript.Main(m, map[string]func(){"cupel": limited(main), "fake-meter": fakeMeter})
}

// noSelfCheck is the variable that keeps commands of a test from measuring the
// client.
const noSelfCheck = "CUPEL_TEST_NO_SELF_CHECK"

// TestScript runs testdata/script. Beside the commands of testscript there are
// those of endpointCommands, fileCommands, storeCommands and hubCommands.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		Setup:              setupScript,
		RequireUniqueNames: true,
		UpdateScripts:      os.Getenv("UPDATE_SCRIPTS") != "", // after a look at the difference
		Cmds:               scriptCommands(endpointCommands, fileCommands, storeCommands, hubCommands),
	})
}

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
	for name, dir := range map[string]string{"ARTIFACTS": "../../stages/artifact/testdata", "KERNELAB": "../../pipelines/kernel-ab"} {
		full, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		env.Setenv(name, full)
	}
	tb, ok := env.T().(testing.TB)
	if !ok {
		return errors.New("testscript no longer hands out a testing.TB")
	}
	env.Values[hubKey{}] = &hubHolder{}
	env.Values[endpointsKey{}] = &endpoints{tb, env.WorkDir, map[string]*scripted{}}
	return nil
}

func homes(dir string) map[string]string {
	return map[string]string{"HOME": filepath.Join(dir, ".home"), "XDG_CACHE_HOME": filepath.Join(dir, ".cache"), "NO_PROXY": "*", noSelfCheck: "1"}
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

type command = func(ts *testscript.TestScript, neg bool, args []string)

// scriptCommands joins tables of commands.
func scriptCommands(tables ...map[string]command) map[string]command {
	all := map[string]command{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

// simple makes a command of f, which takes from least to most arguments.
func simple(least, most int, f func(ts *testscript.TestScript, args []string)) command {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < least || len(args) > most {
			ts.Fatalf("not negated, with %d to %d arguments", least, most)
		}
		f(ts, args)
	}
}
