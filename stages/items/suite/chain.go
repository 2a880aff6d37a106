package suite

import (
	"fmt"
	"os"
	"path/filepath"
)

// Chain compares a frozen suite with the versions that stand beside it: what a
// refresh recorded of its parent must be what the parent says of itself. A
// version whose digests were all written anew is found by its children, and by
// those alone.
func (s *Set) Chain() error {
	if s.Manifest == nil || s.Manifest.Digest.IsZero() {
		return nil
	}
	parent := filepath.Dir(filepath.Clean(s.dir))
	siblings, err := os.ReadDir(parent)
	if err != nil {
		return nil // nothing beside it can be looked at, and it is whole itself
	}
	for _, e := range siblings {
		var m Manifest
		if readJSON(filepath.Join(parent, e.Name(), ManifestFile), &m, false) != nil || m.Name != s.Manifest.Name {
			continue
		}
		for _, pair := range [][2]*Manifest{{s.Manifest, &m}, {&m, s.Manifest}} {
			old, refresh := pair[0], pair[1]
			if refresh.Parent == old.Version && refresh.ParentDigest != nil && *refresh.ParentDigest != old.Digest {
				return fmt.Errorf("%s: version %s records of its parent, version %s: %w", s.Name, refresh.Version, old.Version,
					tampered(ManifestFile, *refresh.ParentDigest, old.Digest))
			}
		}
	}
	return nil
}
