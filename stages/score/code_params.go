package score

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/cupel-dev/cupel/engine/step"
)

type codeParams struct {
	Language  string   `json:"language" doc:"python, node or sh; with module any name, for the file's ending"`
	Module    string   `json:"module" doc:"path of an interpreter to use instead of the machine's: a WebAssembly module (WASI) or an executable"`
	SHA256    string   `json:"sha256" doc:"digest of module"`
	Blocks    string   `json:"blocks" doc:"which fenced blocks are the code: all (joined), first, last; none = the whole text"`
	Partial   bool     `json:"partial" doc:"value is the share of passed cases, not 1 or 0; for tests that are cases"`
	CPU       quantity `json:"cpu" doc:"seconds of CPU time; more is a failed test"`
	Wall      quantity `json:"wall" doc:"seconds on the clock; more gives no value, since a busy machine could be the cause"`
	Memory    quantity `json:"memory" doc:"MiB"`
	Output    quantity `json:"output" doc:"KiB on each of stdout and stderr"`
	FileSize  quantity `json:"file_size" doc:"MiB of one file that the code writes"`
	Processes quantity `json:"processes" doc:"processes and threads at once"`
}

var codeDefaults = codeParams{
	Language: "python", Blocks: "all",
	CPU: "10", Wall: "60", Memory: "512", Output: "256", FileSize: "16", Processes: "32",
}

func (p codeParams) limits() (l Limits, err error) {
	if l.CPU, err = seconds("cpu", p.CPU); err != nil {
		return l, err
	}
	if l.Wall, err = seconds("wall", p.Wall); err != nil {
		return l, err
	}
	if l.Wall <= l.CPU {
		return l, step.WithHint(fmt.Errorf("wall (%v) is not above cpu (%v): a busy loop would end without a value", l.Wall, l.CPU), "raise wall")
	}
	if l.Memory, err = scaled("memory", p.Memory, 1<<20, 1<<40); err != nil {
		return l, err
	}
	if l.Output, err = scaled("output", p.Output, 1<<10, 1<<30); err != nil {
		return l, err
	}
	if l.FileSize, err = scaled("file_size", p.FileSize, 1<<20, 1<<40); err != nil {
		return l, err
	}
	n, err := scaled("processes", p.Processes, 1, 1<<16)
	l.Processes = int(n)
	return l, err
}

// seconds reads a duration of whole seconds: the kernel counts CPU time so.
func seconds(name string, q quantity) (time.Duration, error) {
	n, err := scaled(name, q, 1, 24*3600)
	return time.Duration(n) * time.Second, err
}

// scaled reads a quantity above 0 and multiplies it by unit.
func scaled(name string, q quantity, unit, most int64) (int64, error) {
	r, err := q.parse(name)
	if err != nil {
		return 0, err
	}
	r.Mul(r, new(big.Rat).SetInt64(unit))
	if !r.IsInt() || r.Sign() <= 0 || !r.Num().IsInt64() || r.Num().Int64() > most {
		return 0, fmt.Errorf("parameter %s: %s is not a whole number from 1 to %d", name, clip(string(q)), most/unit)
	}
	return r.Num().Int64(), nil
}

// pinned checks a path and its digest.
func pinned(pathName, path, sha256 string) error {
	switch {
	case path == "" && sha256 == "":
		return nil
	case path == "":
		return fmt.Errorf("parameter sha256 is given without %s", pathName)
	case sha256 == "":
		return step.WithHint(fmt.Errorf("parameter %s is given without sha256", pathName), "give the output of: sha256sum "+path)
	}
	if _, err := step.ParseDigest(sha256); err != nil {
		return fmt.Errorf("parameter sha256: %w", err)
	}
	return nil
}

func (p codeParams) check() error {
	if err := pinned("module", p.Module, p.SHA256); err != nil {
		return err
	}
	if p.Module == "" {
		if err := oneOf("language", p.Language, "python", "node", "sh"); err != nil {
			return step.WithHint(err, "for another language name its interpreter as module, with its sha256")
		}
	}
	if p.Language == "" || strings.ContainsFunc(p.Language, func(r rune) bool { return !isWord(r) }) {
		return errors.New("parameter language is no word")
	}
	return oneOf("blocks", p.Blocks, "all", "first", "last", "none")
}
