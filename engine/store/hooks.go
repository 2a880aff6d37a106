package store

import "os"

// Point names one kind of change to the disk.
type Point string

// The points, each reached just before the change is made.
const (
	PointMkdir   Point = "make directory"
	PointTemp    Point = "create temporary file"
	PointCreate  Point = "create" // of an append-only file
	PointWrite   Point = "write"
	PointSync    Point = "sync"
	PointRename  Point = "rename to"
	PointLink    Point = "link to"
	PointSyncDir Point = "sync directory"
	PointRemove  Point = "remove"
	PointLocked  Point = "lock" // reached just after a key's lock was taken
)

// Hooks let a test stand between any two changes: to fail one, to stop there,
// or to let another process go first. Nil members do nothing.
type Hooks struct {
	// At is called at every point; its error is that change's failure.
	At func(p Point, path string) error
	// Write replaces the write itself; it may write less than it was given.
	Write func(f *os.File, p []byte) (int, error)
	// Sync replaces fsync, of files and of directories.
	Sync func(f *os.File) error
	// FSType replaces the look at the file system: the name of a network file
	// system, or "".
	FSType func(path string) (string, error)
}
