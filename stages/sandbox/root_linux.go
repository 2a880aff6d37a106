//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/score"
)

const (
	tmpfsFlags = unix.MS_NOSUID | unix.MS_NODEV
	base       = "/tmp" // where the new root is made; it is hidden by it
)

// makeRoot makes a root of copies of the mounts that the sandbox shows, all
// read-only, with /tmp and /work of its own.
func makeRoot(j job) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	trees := make([]int, len(j.Root))
	for i, m := range j.Root {
		if m.Link != "" {
			continue
		}
		fd, err := copyTree(m)
		if err != nil {
			return fmt.Errorf("show %s: %w", m.Path, err)
		}
		trees[i] = fd
	}
	if err := unix.Mount("tmpfs", base, "tmpfs", tmpfsFlags, "mode=0755,size=1m"); err != nil {
		return fmt.Errorf("mount a root: %w", err)
	}
	for i, m := range j.Root {
		if err := place(m, trees[i]); err != nil {
			return fmt.Errorf("show %s: %w", m.Path, err)
		}
	}
	if err := mountOwn(j.Limits.space()); err != nil {
		return err
	}
	return enterRoot()
}

// copyTree copies a mount with all below it and forbids to write to it.
func copyTree(m mount) (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, m.Path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, oldKernel(err)
	}
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID}
	if !m.Dev {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NODEV
	}
	return fd, oldKernel(unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr))
}

func oldKernel(err error) error {
	if errors.Is(err, unix.ENOSYS) {
		return step.WithHint(err, "this needs Linux 5.12; bubblewrap does without")
	}
	return err
}

// place puts a copied tree, or a link, into the new root.
func place(m mount, tree int) error {
	at := base + m.Path
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if m.Link != "" {
		return os.Symlink(m.Link, at)
	}
	defer unix.Close(tree)
	var st unix.Stat_t
	if err := unix.Fstat(tree, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
	} else if err := os.WriteFile(at, nil, 0o644); err != nil {
		return err
	}
	return unix.MoveMount(tree, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// mountOwn mounts what is the sandbox's own.
func mountOwn(space int64) error {
	bounded := fmt.Sprintf("mode=1777,size=%d,nr_inodes=4096", space)
	for _, m := range []struct {
		at, kind, options string
		flags             uintptr
	}{
		{"/proc", "proc", "", tmpfsFlags | unix.MS_NOEXEC | unix.MS_RDONLY},
		{"/tmp", "tmpfs", bounded, tmpfsFlags},
		{score.WorkDir, "tmpfs", bounded, tmpfsFlags},
	} {
		if err := os.MkdirAll(base+m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, base+m.at, m.kind, m.flags, m.options); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	return nil
}

// enterRoot makes base the root and lets go of the machine's.
func enterRoot() error {
	if err := os.Chdir(base); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let the old root go: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make the root read-only: %w", err)
	}
	return unix.Sethostname([]byte(hostname))
}
