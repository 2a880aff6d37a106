package store

import (
	"fmt"

	"github.com/cupel-dev/cupel/engine/step"
)

// refuseNetworkFS looks at the file system that path is or would be on.
func refuseNetworkFS(path string, fsType func(string) (string, error)) error {
	if fsType == nil {
		fsType = networkFS
	}
	kind, err := fsType(nearestExisting(path))
	if err != nil {
		return fmt.Errorf("file system of %s: %w", path, err)
	}
	if kind == "" {
		return nil
	}
	err = fmt.Errorf("%s is on %s, a %w: locks and renames may not hold between machines there", path, kind, ErrNetworkFS)
	return step.WithHint(err, "use a local directory (--store), or --allow-network-fs if only one machine uses it")
}

// NetworkFS names the network file system that path is on, or would be once it
// is made; "" is a local one.
func NetworkFS(path string) (string, error) { return networkFS(nearestExisting(path)) }
