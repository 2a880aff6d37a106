package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/crypto/ssh"
	"gopkg.in/yaml.v3"
)

// fileCommands are:
//
//	write FILE TEXT         TEXT with the escapes of Go
//	append FILE TEXT
//	replace FILE OLD NEW    OLD is there exactly once
//	pad FILE SIZE           make it that large with comments
//	cpenv FROM TO           copy with environment variables put in
//	readenv NAME FILE       set $NAME to the first line
//	tojson YAML JSON CUE    the same document in the other two forms
//	fifo FILE               a pipe that nobody writes to
//	flip FILE [OFFSET]      invert the bits of a byte, of the middle one by default
//	same FILE FILE...       equal content
//	jsonlines FILE          every line is a JSON document
//	json FILE               one JSON document
//	jsonschema SCHEMA YAML  the document holds the JSON Schema
//	sshkey FILE             a private key, and its public one in FILE.pub
//	tree DIR FILE           write names, sizes and digests of all files to FILE
var fileCommands = map[string]command{
	"write":      simple(2, 2, cmdWrite(os.O_TRUNC)),
	"append":     simple(2, 2, cmdWrite(os.O_APPEND)),
	"replace":    simple(3, 3, cmdReplace),
	"pad":        simple(2, 2, cmdPad),
	"cpenv":      simple(2, 2, cmdCpEnv),
	"readenv":    simple(2, 2, cmdReadEnv),
	"tojson":     simple(3, 3, cmdToJSON),
	"fifo":       simple(1, 1, cmdFIFO),
	"flip":       simple(1, 2, cmdFlip),
	"same":       simple(2, 9, cmdSame),
	"jsonlines":  simple(1, 1, cmdJSONLines),
	"json":       simple(1, 1, cmdJSON),
	"jsonschema": simple(2, 2, cmdJSONSchema),
	"tree":       simple(2, 2, cmdTree),
	"sshkey":     simple(1, 1, cmdSSHKey),
	"onlyfolder": simple(2, 2, cmdOnlyFolder),
	"copyfolder": simple(2, 2, cmdCopyFolder),
}

// cmdOnlyFolder sets a variable to the one folder in a folder: findings are
// named after the day.
func cmdOnlyFolder(ts *testscript.TestScript, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[1]))
	ts.Check(err)
	var found []string
	for _, e := range entries {
		if e.IsDir() {
			found = append(found, args[1]+"/"+e.Name())
		}
	}
	if len(found) != 1 {
		ts.Fatalf("%d folders in %s", len(found), args[1])
	}
	ts.Setenv(args[0], found[0])
}

// cmdCopyFolder copies a folder, so that a script may write into it.
func cmdCopyFolder(ts *testscript.TestScript, args []string) {
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
}

// unescape reads the escapes of Go, which a script cannot write itself.
func unescape(ts *testscript.TestScript, s string) string {
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	ts.Check(err)
	return out
}

func cmdWrite(how int) func(*testscript.TestScript, []string) {
	return func(ts *testscript.TestScript, args []string) {
		name := ts.MkAbs(args[0])
		if info, err := os.Stat(name); err == nil { // what the store keeps is read-only
			ts.Check(os.Chmod(name, 0o644))
			defer os.Chmod(name, info.Mode())
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|how, 0o666)
		ts.Check(err)
		_, err = f.WriteString(unescape(ts, args[1]))
		ts.Check(errors.Join(err, f.Close()))
	}
}

func cmdPad(ts *testscript.TestScript, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := ts.ReadFile(args[0]) + "# "
	text += strings.Repeat("x", size-len(text)-1) + "\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

func cmdFIFO(ts *testscript.TestScript, args []string) {
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o666))
}

func cmdFlip(ts *testscript.TestScript, args []string) {
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
func cmdReplace(ts *testscript.TestScript, args []string) {
	name := ts.MkAbs(args[0])
	old, new_ := strings.ReplaceAll(args[1], `\n`, "\n"), strings.ReplaceAll(args[2], `\n`, "\n")
	b := ts.ReadFile(args[0])
	if strings.Count(b, old) != 1 {
		ts.Fatalf("%q is %d times in %s, want once", old, strings.Count(b, old), args[0])
	}
	ts.Check(os.WriteFile(name, []byte(strings.Replace(b, old, new_, 1)), 0o666))
}

func cmdSame(ts *testscript.TestScript, args []string) {
	for _, other := range args[1:] {
		if a, b := ts.ReadFile(args[0]), ts.ReadFile(other); a != b {
			ts.Fatalf("%s and %s differ:\n%s\n%s", args[0], other, a, b)
		}
	}
}

func cmdJSONLines(ts *testscript.TestScript, args []string) {
	ts.Check(eachJSONLine(ts.ReadFile(args[0])))
}

func cmdTree(ts *testscript.TestScript, args []string) {
	names, err := tree(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), fmt.Appendln(nil, strings.Join(names, "\n")), 0o666))
}

func cmdToJSON(ts *testscript.TestScript, args []string) {
	var doc any
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(args[0])), &doc))
	b, err := json.MarshalIndent(doc, "", "  ")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), append([]byte("package campaign\n\n"), b[1:len(b)-1]...), 0o666))
}

func cmdReadEnv(ts *testscript.TestScript, args []string) {
	first, _, _ := strings.Cut(ts.ReadFile(args[1]), "\n")
	ts.Setenv(args[0], first)
}

func cmdCpEnv(ts *testscript.TestScript, args []string) {
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}

func cmdJSON(ts *testscript.TestScript, args []string) {
	if !json.Valid([]byte(ts.ReadFile(args[0]))) {
		ts.Fatalf("%s is not a JSON document", args[0])
	}
}

func cmdJSONSchema(ts *testscript.TestScript, args []string) {
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	c := jsonschema.NewCompiler()
	ts.Check(c.AddResource("cupel:///schema.json", schema))
	compiled, err := c.Compile("cupel:///schema.json")
	ts.Check(err)
	var doc any
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(args[1])), &doc))
	b, err := json.Marshal(doc)
	ts.Check(err)
	doc, err = jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	ts.Check(err)
	ts.Check(compiled.Validate(doc))
	doc.(map[string]any)["campaign"] = "NOT A NAME"
	if compiled.Validate(doc) == nil {
		ts.Fatalf("the schema of %s refuses nothing", args[0])
	}
}

func cmdSSHKey(ts *testscript.TestScript, args []string) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	ts.Check(err)
	block, err := ssh.MarshalPrivateKey(private, "")
	ts.Check(err)
	key, err := ssh.NewPublicKey(public)
	ts.Check(err)
	file := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	ts.Check(os.WriteFile(file+".pub", ssh.MarshalAuthorizedKey(key), 0o600))
}
