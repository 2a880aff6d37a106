package sandbox

import (
	"time"

	"github.com/cupel-dev/cupel/stages/score"
)

// job is what the keeper inside the sandbox is told.
type job struct {
	Root   []mount   `json:"root,omitempty"` // to make a root of; empty when bubblewrap made it
	Files  []jobFile `json:"files"`
	Argv   []string  `json:"argv"` // empty: only say that the sandbox works
	Env    []string  `json:"env"`
	Dir    string    `json:"dir"`
	Limits jobLimits `json:"limits"`
	UID    int       `json:"uid"` // to run as; 0 = stay who one is
}

type jobFile struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
	Exec bool   `json:"exec"`
}

// mount is one thing of the machine that the sandbox shows, at the same path.
type mount struct {
	Path string `json:"path"`
	Link string `json:"link,omitempty"` // a symbolic link to there, not a mount
	Dev  bool   `json:"dev,omitempty"`  // a device, which may be written
}

type jobLimits struct {
	CPU          int   `json:"cpu"` // seconds, 0 = none
	Memory       int64 `json:"memory"`
	AddressSpace bool  `json:"address_space"` // the memory limit holds for reserved addresses too
	FileSize     int64 `json:"file_size"`
	Processes    int   `json:"processes"`
}

func limitsOf(l score.Limits) jobLimits {
	return jobLimits{CPU: int(l.CPU / time.Second), Memory: l.Memory, FileSize: l.FileSize, Processes: l.Processes}
}

// space is how much /tmp and /work hold, each.
func (l jobLimits) space() int64 { return 4 * l.FileSize }

// report is what the keeper says at the end.
type report struct {
	Error string      `json:"error,omitempty"` // the sandbox could not be made: where and why
	Exit  int         `json:"exit"`
	Limit score.Limit `json:"limit,omitempty"`
	Lost  bool        `json:"lost,omitempty"` // killed from outside
}
