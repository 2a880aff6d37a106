package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/stages/meter/convert"
	"github.com/cupel-dev/cupel/stages/meter/parse"
)

// maxScrapes bounds a folder: a day at one a second.
const maxScrapes = 100_000

// dcgmFiles reads one file of scrapes, or a folder with one in each file, in the order
// of their moments.
func dcgmFiles(name string, o convert.Options) (*convert.Recording, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, diskfile.Cause(err)
	}
	if !info.IsDir() {
		return oneFile(func(r io.Reader, o convert.Options) (*convert.Recording, error) {
			return convert.DCGM([]convert.Scrape{{Name: filepath.Base(name), Text: r}}, o)
		})(name, o)
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, diskfile.Cause(err)
	}
	var scrapes []convert.Scrape
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if len(scrapes) == maxScrapes {
			return nil, fmt.Errorf("more than %d files", maxScrapes)
		}
		scrapes = append(scrapes, convert.Scrape{Name: e.Name(), At: momentOf(e.Name(), o), Text: &lazyFile{name: filepath.Join(name, e.Name())}})
	}
	slices.SortStableFunc(scrapes, func(a, b convert.Scrape) int {
		x, _ := parse.Stamp(a.At, o.Zone) // 0 of those that have none: their moment is within
		y, _ := parse.Stamp(b.At, o.Zone)
		return cmp.Compare(x, y)
	})
	return convert.DCGM(scrapes, o)
}

// momentOf is the moment that a file is named by: 1790000000.prom,
// scrape-20260921T141320Z.txt. "" = none.
func momentOf(name string, o convert.Options) string {
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	for _, s := range []string{name, stem} {
		for {
			if _, err := parse.Stamp(s, o.Zone); err == nil {
				return s
			}
			_, rest, ok := strings.Cut(s, "-")
			if !ok {
				break
			}
			s = rest
		}
	}
	return ""
}

// lazyFile opens a file when it is read, and closes it at its end: a folder may have
// more files than can be open.
type lazyFile struct {
	name string
	f    *os.File
}

func (l *lazyFile) Read(p []byte) (int, error) {
	if l.f == nil {
		f, err := openRegular(l.name)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, io.EOF // it was taken away meanwhile
		}
		if err != nil {
			return 0, err
		}
		l.f = f
	}
	n, err := l.f.Read(p)
	if err != nil {
		l.f.Close()
	}
	return n, err
}
