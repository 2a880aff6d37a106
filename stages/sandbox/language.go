package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/stages/score"
)

// language is how an interpreter is found and started.
type language struct {
	names        []string // of commands, tried in order
	ask          []string // arguments that make it print its path and then its version; nil = it cannot
	flags        func(score.Limits) []string
	addressSpace bool // reserves no more addresses than it needs
}

var languages = map[string]language{
	"python": {
		names: []string{"python3", "python"}, addressSpace: true,
		ask:   []string{"-c", "import sys; print(sys.executable); print(sys.version.replace(chr(10), ' '))"},
		flags: func(score.Limits) []string { return []string{"-s", "-B"} },
	},
	"node": {
		names: []string{"node", "nodejs"},
		ask:   []string{"-p", `process.execPath + "\n" + process.version`},
		flags: func(l score.Limits) []string {
			return []string{fmt.Sprintf("--max-old-space-size=%d", max(16, l.Memory>>20*3/4)), "--no-warnings"}
		},
	},
	"sh": {names: []string{"sh"}, addressSpace: true, flags: func(score.Limits) []string { return nil }},
}

// interpreter is one that is there.
type interpreter struct {
	language
	path     string // without symbolic links
	prefix   string // folder that holds it and its library; "" when the system's folders do
	identity string // version and digest
}

func (i interpreter) argv(l score.Limits) []string { return append([]string{i.path}, i.flags(l)...) }

// findInterpreter looks on the PATH and asks what it finds who it is: what lies
// there may be a shim.
func findInterpreter(name string) (interpreter, error) {
	lang, ok := languages[name]
	if !ok {
		return interpreter{}, fmt.Errorf("no interpreter is known for %q", name)
	}
	found, err := lookPath(lang.names)
	if err != nil {
		return interpreter{}, fmt.Errorf("%s is not installed", strings.Join(lang.names, " or "))
	}
	it := interpreter{language: lang}
	version := ""
	if lang.ask != nil {
		if found, version, err = introduce(found, lang.ask); err != nil {
			return it, fmt.Errorf("%s does not say its version: %w", name, err)
		}
	}
	if it.path, err = filepath.EvalSymlinks(found); err != nil {
		return it, err
	}
	digest, err := digestOf(it.path)
	if err != nil {
		return it, err
	}
	it.identity = strings.TrimSpace(version + " sha256:" + digest)
	it.prefix, err = prefixOf(it.path)
	return it, err
}

func lookPath(names []string) (path string, err error) {
	for _, n := range names {
		if path, err = exec.LookPath(n); err == nil {
			return path, nil
		}
	}
	return "", err
}

func introduce(command string, args []string) (path, version string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, command, args...).Output()
	if err != nil {
		return "", "", err
	}
	path, version, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(path), strings.TrimSpace(version), nil
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// system are the folders that every sandbox shows.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// prefixOf is the folder that a sandbox must show for an interpreter that was
// installed elsewhere: P for P/bin/python. A folder that holds more than the
// installation, such as a home, is not shown.
func prefixOf(path string) (string, error) {
	for _, dir := range system {
		if strings.HasPrefix(path, dir+"/") {
			return "", nil
		}
	}
	if strings.HasPrefix(path, "/nix/store/") {
		return "/nix/store", nil
	}
	dir := filepath.Dir(path)
	if filepath.Base(dir) == "bin" {
		dir = filepath.Dir(dir)
	}
	home, _ := os.UserHomeDir()
	if strings.Count(dir, "/") < 2 || dir == home || strings.HasPrefix(home, dir+"/") || filepath.Dir(dir) == "/home" {
		return "", fmt.Errorf("%s lies in %s, which holds more than the interpreter", filepath.Base(path), dir)
	}
	return dir, nil
}

// isWasm looks at the first bytes of a file.
func isWasm(content []byte) bool { return bytes.HasPrefix(content, []byte("\x00asm")) }
