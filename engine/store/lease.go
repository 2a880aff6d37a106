package store

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
)

// Lease takes a resource for exclusive use on this machine, whatever store is
// used: two timing runs against one endpoint would measure each other. It does
// not wait: *Busy names the holder, which may be this process. release may be
// called again; the kernel releases when the process ends.
func (s *Store) Lease(resource string) (release func(), err error) {
	if s.opts.Mode == ReadOnly {
		return nil, fmt.Errorf("lease of %s: %w", resource, ErrReadOnly)
	}
	dir, err := s.leaseDir()
	if err != nil {
		return nil, fmt.Errorf("lease of %s: %w", resource, err)
	}
	path := filepath.Join(dir, step.Sum([]byte(resource)).String())
	l, owner, err := tryFlock(path, false)
	if err != nil {
		return nil, fmt.Errorf("lease of %s: %w", resource, err)
	}
	if l == nil {
		return nil, &Busy{Resource: resource, Owner: owner}
	}
	l.sign(s.owner())
	return sync.OnceFunc(l.unlockAndRemove), nil
}

// leaseDir returns the directory of leases, made when missing.
func (s *Store) leaseDir() (string, error) {
	dir := s.opts.LeaseDir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", step.WithHint(err, "set HOME or XDG_CACHE_HOME: leases are kept in the cache directory")
		}
		dir = filepath.Join(cache, "cupel", "leases")
	}
	if !s.opts.AllowNetworkFS {
		if err := refuseNetworkFS(dir, s.opts.Hooks.FSType); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", diskError(PointMkdir, dir, diskfile.Cause(err))
	}
	return dir, nil
}
