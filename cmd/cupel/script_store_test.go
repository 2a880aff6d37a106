package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// storeCommands are:
//
//	object STEP:OUTPUT        set $object to the path of a stored output and $digest to its digest
//	seal STEP                 set $record to the path of the step's newest record
//	finding                   set $finding to the folder of the only finding
//	sums DIR                  every file of a finding is in SHA256SUMS, and right
//	[!] grep-r TEXT DIR...    some file below the folders holds TEXT, packed or not
var storeCommands = map[string]command{
	"object":  simple(1, 1, cmdObject),
	"seal":    simple(1, 1, cmdSeal),
	"finding": simple(0, 0, cmdFinding),
	"sums":    simple(1, 1, cmdSums),
	"grep-r":  cmdGrepR,
}

func cmdSeal(ts *testscript.TestScript, args []string) {
	rec, err := recordOf(ts.MkAbs(".cupel"), args[0])
	ts.Check(err)
	k := rec.Key.String()
	ts.Setenv("record", filepath.Join(ts.MkAbs(".cupel"), "steps", k[:2], k, strconv.Itoa(rec.N)+".json"))
}

func cmdObject(ts *testscript.TestScript, args []string) {
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

func cmdSums(ts *testscript.TestScript, args []string) {
	ts.Check(checkSums(ts.MkAbs(args[0])))
}

func cmdFinding(ts *testscript.TestScript, args []string) {
	found, err := filepath.Glob(ts.MkAbs("findings/*-*-*-*"))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%d findings, want 1: %v", len(found), found)
	}
	ts.Setenv("finding", found[0])
}

func cmdGrepR(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] grep-r TEXT DIR...")
	}
	dec, err := zstd.NewReader(nil)
	ts.Check(err)
	defer dec.Close()
	var found []string
	for _, dir := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if content, bad := dec.DecodeAll(b, nil); bad == nil {
				b = content
			}
			if strings.Contains(string(b), args[0]) {
				found = append(found, path)
			}
			return err
		}))
	}
	if (len(found) == 0) != neg {
		ts.Fatalf("%q is in %v", args[0], found)
	}
}
