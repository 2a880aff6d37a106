package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestKeyLockBetweenGoroutines(t *testing.T) {
	s := writable(t)
	k, _ := preimage(t, 1)
	other, _ := preimage(t, 2)
	synctest.Test(t, func(t *testing.T) {
		unlock, err := s.LockKey(t.Context(), k, nil)
		check(t, err)
		unlockOther, err := s.LockKey(t.Context(), other, nil) // keys do not share a lock
		check(t, err)
		defer unlockOther()

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.LockKey(ctx, k, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		got := make(chan Owner, 2)
		go func() {
			unlock, err := s.LockKey(t.Context(), k, func(o Owner) { got <- o })
			check(t, err)
			unlock()
			close(got)
		}()
		if o := <-got; o.PID != os.Getpid() {
			t.Errorf("owner %+v", o)
		}
		unlock()
		if _, more := <-got; more {
			t.Error("onWait was called twice")
		}
	})
	if len(s.keyLocks.m) != 0 {
		t.Errorf("%d locks are remembered", len(s.keyLocks.m))
	}
}

// Lock files are unlinked and made again all the time; never are two holders.
func TestKeyLockExcludes(t *testing.T) {
	s := writable(t)
	stores := []*Store{s, open(t, s.Dir(), Options{Mode: ReadWrite}), open(t, s.Dir(), Options{Mode: ReadWrite})}
	k, _ := preimage(t, 1)
	var wg sync.WaitGroup
	// Atomic, because flock between two Stores is an order that the race
	// detector does not know.
	var inside, total atomic.Int32
	for i := range 6 {
		wg.Go(func() {
			for range 20 {
				unlock, err := stores[i%3].LockKey(t.Context(), k, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if !inside.CompareAndSwap(0, 1) {
					t.Error("two holders")
				}
				runtime.Gosched() // give a second holder its chance
				if !inside.CompareAndSwap(1, 0) {
					t.Error("two holders")
				}
				total.Add(1)
				unlock()
			}
		})
	}
	wg.Wait()
	if total.Load() != 120 {
		t.Errorf("%d turns", total.Load())
	}
}

// Within one Store the lock also orders memory: what one holder wrote, the
// next one reads. The race detector judges.
func TestKeyLockOrdersMemory(t *testing.T) {
	s := writable(t)
	k, _ := preimage(t, 1)
	var wg sync.WaitGroup
	total := 0
	for range 6 {
		wg.Go(func() {
			for range 20 {
				unlock, err := s.LockKey(t.Context(), k, nil)
				if err != nil {
					t.Error(err)
					return
				}
				total++
				unlock()
			}
		})
	}
	wg.Wait()
	if total != 120 {
		t.Errorf("%d turns", total)
	}
}

// Between opening a lock file and locking it, its holder may unlink it and
// someone else make a new one.
func TestLockOfAnUnlinkedFileIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for _, meanwhile := range []func(){
		func() { check(t, os.Remove(path)) },
		func() { check(t, os.WriteFile(path+"2", nil, 0o600)); check(t, os.Rename(path+"2", path)) },
	} {
		f := must[*os.File](t)(os.Create(path))
		meanwhile()
		if l, _, err := lockFile(f, path, false); l != nil || !errors.Is(err, errUnlinked) {
			t.Errorf("lock %v, %v", l, err)
		}
		if _, err := f.Stat(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("still open: %v", err)
		}
	}
}

func TestKeyLockHookSeesItHeld(t *testing.T) {
	boom := errors.New("boom")
	locked := 0
	s := open(t, newDir(t), Options{Mode: ReadWrite, Hooks: Hooks{At: func(p Point, path string) error {
		if p != PointLocked {
			return nil
		}
		if l, _, err := tryFlock(path, false); l != nil || err != nil {
			t.Errorf("not held at %s: %v", p, err)
		}
		locked++
		return boom
	}}})
	k, _ := preimage(t, 1)
	for range 2 { // the failure let go of it
		if _, err := s.LockKey(t.Context(), k, nil); !errors.Is(err, boom) {
			t.Errorf("error %v", err)
		}
	}
	if locked != 2 {
		t.Errorf("locked %d times", locked)
	}
}

func TestLease(t *testing.T) {
	leases := t.TempDir()
	a := open(t, newDir(t), Options{Mode: ReadWrite, LeaseDir: leases})
	b := open(t, newDir(t), Options{Mode: ReadWrite, LeaseDir: leases}) // another store, the same machine
	release, err := a.Lease("gpu/../x")
	check(t, err)
	for _, s := range []*Store{a, b} {
		var busy *Busy
		if _, err := s.Lease("gpu/../x"); !errors.As(err, &busy) || busy.Owner.PID != os.Getpid() || !busy.Owner.Since.Equal(noon) {
			t.Errorf("error %v", err)
		}
	}
	release()
	release()
	release, err = b.Lease("gpu/../x")
	check(t, err)
	release()
	if entries := must[[]os.DirEntry](t)(os.ReadDir(leases)); len(entries) != 0 {
		t.Errorf("left over: %v", entries)
	}
}

func TestLeaseDefaultDir(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("HOME", cache)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(cache, "c"))
	s := writable(t)
	release, err := s.Lease("x")
	check(t, err)
	defer release()
	dir := must[string](t)(os.UserCacheDir())
	if entries := must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(dir, "cupel", "leases"))); len(entries) != 1 {
		t.Errorf("leases %v", entries)
	}
}

func TestLeaseNeedsALocalDir(t *testing.T) {
	s := open(t, newDir(t), Options{Mode: ReadWrite, LeaseDir: "/home/leases", Hooks: Hooks{FSType: func(path string) (string, error) {
		if strings.HasPrefix(path, "/home") {
			return "NFS", nil
		}
		return "", nil
	}}})
	if _, err := s.Lease("x"); !errors.Is(err, ErrNetworkFS) {
		t.Errorf("error %v", err)
	}
}

func TestOwnerMessages(t *testing.T) {
	o := Owner{Host: "h", PID: 7, Since: noon}
	for want, err := range map[string]error{
		"x is in use by process 7 on h since 2026-03-01 12:00:00Z": &Busy{"x", o},
		"x is in use by another process":                           &Busy{"x", Owner{}},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	if s := self(); s.PID != os.Getpid() || s.Host == "" {
		t.Errorf("self %+v", s)
	}
}

func TestStartTime(t *testing.T) {
	fields := strings.Repeat(" 1", 19) + " 4242 9"
	for in, want := range map[string]string{
		"7 (sh)" + fields: "4242", "7 (a ) (b)" + fields: "4242", "7 (sh) 1 2": "", "": "",
	} {
		if got := startTime([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestClosedStoreLetsOthersIn(t *testing.T) {
	s := writable(t)
	check(t, s.Close())
	check(t, s.Close())
	open(t, s.Dir(), Options{Mode: Exclusive, Clock: time.Now})
}
