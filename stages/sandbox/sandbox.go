package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/score"
)

// Options say where programs are and how they are kept apart.
type Options struct {
	Dir     string // that relative paths of programs start from; "" = the working directory
	Backend string // "" = the best there is; Bubblewrap, Namespaces or None
}

// The backends for programs that are no WebAssembly.
const (
	Bubblewrap = "bubblewrap"
	Namespaces = "namespaces"
	None       = "none"
)

// Defaults of limits that are not given.
var defaults = score.Limits{
	Wall: time.Minute, Memory: 1 << 30, Output: 1 << 20, FileSize: 16 << 20, Processes: 64,
}

// Sandbox runs programs. It is safe for concurrent use.
type Sandbox struct {
	options  Options
	native   func() (native, error) // looked for once
	language func(string) (interpreter, error)
	runtimes func() map[string]string
	wasm     wasmCache
}

var _ score.Runner = (*Sandbox)(nil)

// New returns a sandbox. It looks at nothing until something is to be run.
func New(o Options) *Sandbox {
	s := &Sandbox{options: o, language: oncePer(findInterpreter)}
	s.native = sync.OnceValues(func() (native, error) { return findNative(o.Backend) })
	s.runtimes = sync.OnceValue(s.lookAround)
	return s
}

// Runtimes says which interpreters there are, and "sandbox" -> "none: why"
// where no native program can be run.
func (s *Sandbox) Runtimes() map[string]string { return s.runtimes() }

func (s *Sandbox) lookAround() map[string]string {
	out := map[string]string{}
	for name := range languages {
		it, err := s.language(name)
		if err != nil {
			out[name] = "none: " + err.Error()
			continue
		}
		out[name] = it.identity
	}
	if _, err := s.native(); err != nil {
		out["sandbox"] = "none: " + err.Error()
	}
	return out
}

// Run runs a program to its end.
func (s *Sandbox) Run(ctx context.Context, p score.Program, stdin []byte) (score.Outcome, error) {
	l, err := s.prepare(p)
	if err != nil {
		return score.Outcome{}, err
	}
	return run(ctx, l, stdin)
}

// Open starts a program that answers line by line.
func (s *Sandbox) Open(ctx context.Context, p score.Program) (score.Session, error) {
	l, err := s.prepare(p)
	if err != nil {
		return nil, err
	}
	return open(ctx, l)
}

// launch is a program that is ready to be started.
type launch struct {
	start  func(context.Context) (*process, error)
	limits score.Limits
}

// prepare finds all that a program needs and checks its digest.
func (s *Sandbox) prepare(p score.Program) (launch, error) {
	l := launch{limits: withDefaults(p.Limits)}
	var content []byte
	if p.Path != "" {
		path := p.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.options.Dir, path)
		}
		var err error
		if content, err = readPinned(path, p.SHA256); err != nil {
			return l, err
		}
		p.Path = path
	}
	switch {
	case p.Trust:
		return s.prepareTrusted(l, p)
	case isWasm(content):
		return s.wasm.prepare(l, p, content)
	}
	return s.prepareNative(l, p, content)
}

func withDefaults(l score.Limits) score.Limits {
	set := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	if l.Wall == 0 {
		l.Wall = defaults.Wall
	}
	if l.Processes == 0 {
		l.Processes = defaults.Processes
	}
	set(&l.Memory, defaults.Memory)
	set(&l.Output, defaults.Output)
	set(&l.FileSize, defaults.FileSize)
	return l
}

// readPinned reads a program. What is run are the bytes whose digest was
// checked, so changing the file afterwards changes nothing.
func readPinned(path, want string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	if got := hex.EncodeToString(sum[:]); got != want {
		return nil, step.WithHint(fmt.Errorf("%s has the digest %s, and %s is declared", filepath.Base(path), got, want),
			"declare the new digest when the change is meant")
	}
	return content, nil
}

// prepareNative puts the files into the sandbox and names what starts them.
func (s *Sandbox) prepareNative(l launch, p score.Program, content []byte) (launch, error) {
	n, err := s.native()
	if err != nil {
		return l, &score.Undetermined{Code: score.ReasonNoSandbox, Err: err}
	}
	j := job{Env: environment, Dir: score.WorkDir, Limits: limitsOf(l.limits)}
	for _, f := range p.Files {
		j.Files = append(j.Files, jobFile{Name: f.Name, Data: f.Data})
	}
	var prefix string
	if p.Path != "" {
		name := filepath.Base(p.Path)
		j.Files = append(j.Files, jobFile{Name: name, Data: content, Exec: true})
		p.Args = append([]string{score.WorkDir + "/" + name}, p.Args...)
	}
	if p.Language != "" {
		it, err := s.language(p.Language)
		if err != nil {
			return l, &score.Undetermined{Code: score.ReasonNoRuntime, Err: err}
		}
		prefix = it.prefix
		j.Limits.AddressSpace = it.addressSpace
		p.Args = append(it.argv(l.limits), p.Args...)
	}
	if len(p.Args) == 0 {
		return l, errors.New("the program has neither a language nor a path")
	}
	j.Argv = p.Args
	l.start = func(context.Context) (*process, error) { return n.start(j, prefix) }
	return l, nil
}

// environment of a program in a sandbox. Python's hash seed is fixed, so that
// the order of a set is the same each time.
var environment = []string{
	"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/work", "TMPDIR=/tmp", "LANG=C.UTF-8", "TZ=UTC",
	"PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1",
}

// oncePer remembers f's results by name.
func oncePer[T any](f func(string) (T, error)) func(string) (T, error) {
	var mu sync.Mutex
	known := map[string]func() (T, error){}
	return func(name string) (T, error) {
		mu.Lock()
		if known[name] == nil {
			known[name] = sync.OnceValues(func() (T, error) { return f(name) })
		}
		once := known[name]
		mu.Unlock()
		return once()
	}
}
