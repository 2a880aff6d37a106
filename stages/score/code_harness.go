package score

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// WorkDir is where a program in a sandbox finds its files.
const WorkDir = "/work"

// dialect is how a language runs an answer and then its tests. TOKEN stands
// for a line that is printed when both are done.
type dialect struct {
	ending string // of the names of files
	main   string // runs answer and tests, which are files of their own; "" = one file, and then
	last   string // what ends it
	middle string // ends the answer's last statement, so that tests do not continue it
}

var dialects = map[string]dialect{
	// A module of its own, so that what an answer does only when it is run as
	// a program is not done, and so that it may begin with a __future__ import.
	"python": {ending: "py", main: `import sys, types
m = types.ModuleType("answer")
sys.modules["answer"] = m
for name in ("answer.py", "tests.py"):
    with open("/work/" + name, encoding="utf-8") as f:
        exec(compile(f.read(), name, "exec"), m.__dict__)
sys.__stdout__.write("\nTOKEN\n")
sys.__stdout__.flush()
`},
	"node": {ending: "js", middle: ";", last: "\n;require('fs').writeSync(1, '\\nTOKEN\\n');\n"},
	"sh":   {ending: "sh", last: "\nprintf '\\n%s\\n' TOKEN\n"},
}

// harness returns the files that run an answer, the first of which is started,
// and the token that stands in a line of the output once the tests are done.
// The exit status alone proves nothing: an answer that ends the program before
// its tests run would pass. The token depends on the answer, so that none can
// hold its own by chance or from another run; one that reads the harness at run
// time can, as the README says. It is "" where nothing prints one: for cases, whose output
// is the proof, and for languages without a dialect.
func harness(t codeTests, code, language string) (files []File, token string) {
	d, known := dialects[language]
	if !known {
		d.ending = strings.ToLower(language)
	}
	name := func(base string) string { return base + "." + d.ending }
	if len(t.Cases) > 0 {
		return []File{{name("main"), []byte(code + "\n")}}, ""
	}
	answer := code + "\n"
	if t.Before != "" {
		answer = t.Before + "\n" + answer
	}
	if !known {
		return []File{{name("main"), []byte(answer + "\n" + t.Source + "\n")}}, ""
	}
	token = tokenOf(language, answer, t.Source)
	ending := func(s string) []byte { return []byte(strings.ReplaceAll(s, "TOKEN", token)) }
	if d.main != "" {
		return []File{{name("main"), ending(d.main)}, {name("answer"), []byte(answer)}, {name("tests"), []byte(t.Source + "\n")}}, token
	}
	body := []byte(answer + d.middle + "\n" + t.Source + "\n")
	return []File{{name("main"), append(body, ending(d.last)...)}}, token
}

func tokenOf(parts ...string) string {
	sum := sha256.Sum256([]byte("cupel/code/1\x00" + strings.Join(parts, "\x00")))
	return "tests-done-" + hex.EncodeToString(sum[:16])
}

// finished reports whether the token stands in a line of its own.
func finished(stdout []byte, token string) bool {
	return token == "" || strings.Contains("\n"+string(stdout), "\n"+token+"\n")
}
