package source

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// file is one of the system's small files: each read from its beginning makes the
// kernel write it anew, so it is opened once.
type file interface {
	io.ReaderAt
	io.Closer
}

// tree is the folder that stands for / and how files below it are opened.
type tree struct {
	root string
	open func(name string) (file, error)
}

func newTree(root string) tree {
	return tree{root, func(name string) (file, error) { return os.Open(name) }}
}

func (t tree) path(name ...string) string {
	return filepath.Join(append([]string{t.root}, name...)...)
}

// line returns the content of a file of one line, "" when there is none.
func (t tree) line(name string) string {
	f, err := t.open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	s, _ := text(f)
	return s
}

// list returns the names in a folder, in order; none when it is not there.
func (t tree) list(name string) []string {
	entries, err := os.ReadDir(t.path(name))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// maxText bounds such a file. A number needs 21 bytes.
const maxText = 256

// text reads a file from its beginning.
func text(f file) (string, error) {
	var buf [maxText]byte
	n, err := f.ReadAt(buf[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimSpace(string(buf[:n])), nil
}

// number reads a file that holds one. code is why not, "" = it was read.
func number(f file) (n int64, code string) {
	s, err := text(f)
	switch {
	case err != nil:
		return 0, codeOf(err)
	case s == "": // what it told of is gone
		return 0, hardware.NotReadable
	}
	n, err = strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, hardware.Implausible
	}
	return n, ""
}

// codeOf is the reason code of an error of the system.
func codeOf(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return hardware.NoPermission
	case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.EINVAL):
		return hardware.NotSupported
	case errors.Is(err, syscall.ETIMEDOUT):
		return hardware.Timeout
	}
	return hardware.NotReadable
}

// counter is a file that is read again and again.
type counter struct {
	file file
	// trust judges a number that was read: the code of what is wrong with it, ""
	// = nothing. nil = all are good.
	trust func(int64) string
}

func (c counter) read() (int64, string) {
	v, code := number(c.file)
	if code == "" && c.trust != nil {
		code = c.trust(v)
	}
	if code != "" {
		return 0, code
	}
	return v, ""
}

// counts: a counter is not below zero, and not beyond its range; 0 = not known.
func counts(top int64) func(int64) string {
	return func(v int64) string {
		if v < 0 || top > 0 && v > top {
			return hardware.Implausible
		}
		return ""
	}
}

// openCounter opens a file and reads it once. Without a number there is no channel.
func (t tree) openCounter(name string) (f file, missing *trace.Missing) {
	f, err := t.open(name)
	if err != nil {
		return nil, &trace.Missing{What: t.short(name), Reason: codeOf(err), Detail: diskfile.Cause(err).Error()}
	}
	if _, code := number(f); code != "" {
		_, err := text(f)
		f.Close()
		m := &trace.Missing{What: t.short(name), Reason: code}
		if err != nil {
			m.Detail = diskfile.Cause(err).Error()
		}
		return nil, m
	}
	return f, nil
}

// short is the name of a file as its last folder and itself: intel-rapl:0/energy_uj.
func (t tree) short(name string) string {
	return filepath.Base(filepath.Dir(name)) + "/" + filepath.Base(name)
}

// files is a source whose channels are one file each.
type files struct {
	about    Description
	counters []counter // by channel
	states   func() []trace.State
}

func (s *files) Describe() Description { return s.about }

func (s *files) Read(put Put) {
	for i, c := range s.counters {
		v, code := c.read()
		put(i, v, code)
	}
}

func (s *files) States() []trace.State {
	if s.states == nil {
		return nil
	}
	return s.states()
}

func (s *files) Close() error {
	var errs []error
	for _, c := range s.counters {
		errs = append(errs, c.file.Close())
	}
	return errors.Join(errs...)
}

// add makes a channel of a file.
func (s *files) add(c trace.Channel, f file, trust func(int64) string) {
	s.about.Channels = append(s.about.Channels, c)
	s.counters = append(s.counters, counter{f, trust})
}

// device adds a device unless it is there.
func (s *files) device(d trace.Device) {
	for _, there := range s.about.Devices {
		if there.ID == d.ID {
			return
		}
	}
	s.about.Devices = append(s.about.Devices, d)
}

// done returns the source, or nil when it would read nothing.
func (s *files) done(missing []trace.Missing) (Source, []trace.Missing) {
	if len(s.about.Channels) == 0 {
		return nil, missing
	}
	s.about.Missing = missing
	return s, nil
}
