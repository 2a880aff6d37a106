package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"sync"
	"testing/fstest"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/cupel-dev/cupel/stages/score"
)

// wasmCache keeps compiled modules: an interpreter takes seconds to compile.
type wasmCache struct {
	once  sync.Once
	cache wazero.CompilationCache
}

func (w *wasmCache) get() wazero.CompilationCache {
	w.once.Do(func() { w.cache = wazero.NewCompilationCache() })
	return w.cache
}

const wasmPage = 64 << 10

// prepare makes a module ready. It sees its files below /work, read-only, no
// other file, no network, no environment, the same random numbers each time
// and a clock that starts at the same moment.
func (w *wasmCache) prepare(l launch, p score.Program, content []byte) (launch, error) {
	if p.Language != "" {
		return l, errors.New("a WebAssembly module is started itself; leave the language out")
	}
	files := fstest.MapFS{}
	for _, f := range p.Files {
		files[filepath.Base(f.Name)] = &fstest.MapFile{Data: f.Data, Mode: 0o444}
	}
	config := wazero.NewModuleConfig().
		WithName("").WithArgs(append([]string{filepath.Base(p.Path)}, p.Args...)...).
		WithFSConfig(wazero.NewFSConfig().WithFSMount(files, score.WorkDir))
	limits := wazero.NewRuntimeConfig().WithCompilationCache(w.get()).WithCloseOnContextDone(true).
		WithMemoryLimitPages(uint32(min(l.limits.Memory/wasmPage, 1<<16)))
	l.start = func(ctx context.Context) (*process, error) {
		// A runtime for each run, as no module may find what another left.
		r := wazero.NewRuntimeWithConfig(ctx, limits)
		if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
			return nil, errors.Join(err, r.Close(ctx))
		}
		compiled, err := r.CompileModule(ctx, content)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("compile %s: %w", filepath.Base(p.Path), err), r.Close(ctx))
		}
		return startModule(ctx, r, compiled, config, l.limits.CPU), nil
	}
	return l, nil
}

// startModule runs a module in a goroutine.
func startModule(ctx context.Context, r wazero.Runtime, compiled wazero.CompiledModule, config wazero.ModuleConfig, cpu time.Duration) *process {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	p := &process{stdin: inW, stdout: outR, stderr: errR}
	p.close = func() { _, _, _ = inW.Close(), outR.Close(), errR.Close() }
	p.kill = func() { // a module that reads or writes does not look at its context
		cancel()
		_, _, _ = inR.Close(), outW.Close(), errW.Close()
	}
	config = config.WithStdin(inR).WithStdout(outW).WithStderr(errW)
	done := make(chan report, 1)
	go func() {
		var rep report
		defer func() {
			p.kill()
			_ = r.Close(context.WithoutCancel(ctx))
			done <- rep
		}()
		meter := meterThread(cpu, p.kill)
		_, err := r.InstantiateModule(ctx, compiled, config)
		rep.Exit = moduleExit(err, errW)
		if meter.stop() {
			rep.Limit = score.LimitCPU
		}
	}()
	p.wait = sync.OnceValues(func() (report, error) { return <-done, nil })
	return p
}

// moduleExit is the exit status of a module. A trap is one, as a signal is.
func moduleExit(err error, stderr io.Writer) int {
	var exit *sys.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit.ExitCode())
	}
	fmt.Fprintf(stderr, "%v\n", err)
	return 134
}

// threadMeter ends what runs on a thread when it has used too much CPU time.
type threadMeter struct {
	quit chan struct{}
	over chan bool
}

// meterThread binds the calling goroutine to its thread and meters that. Where
// the system cannot tell a thread's time there is no limit but the clock's.
func meterThread(limit time.Duration, end func()) *threadMeter {
	runtime.LockOSThread()
	m := &threadMeter{quit: make(chan struct{}), over: make(chan bool, 1)}
	used := threadTime()
	if used == nil || limit == 0 {
		m.over <- false
		return m
	}
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for first := used(); ; {
			select {
			case <-m.quit:
				m.over <- false
				return
			case <-tick.C:
			}
			if used()-first >= limit {
				m.over <- true
				end()
				return
			}
		}
	}()
	return m
}

// stop reports whether the limit was reached, and lets go of the thread.
func (m *threadMeter) stop() bool {
	close(m.quit)
	runtime.UnlockOSThread()
	return <-m.over
}
