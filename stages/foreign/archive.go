package foreign

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/cupel-dev/cupel/engine/step"
)

// limits bound what an archive may hold.
type limits struct {
	entries int
	entry   int64 // bytes that one entry unpacks to
	ratio   int64 // bytes that all may unpack to for each byte of the archive; logs have about 10
	spare   int64 // beside that
}

var archiveLimits = limits{entries: 200_000, entry: 256 << 20, ratio: 200, spare: 64 << 20}

// archive reads an .eval log: header.json, and a file for each sample and
// epoch below samples/.
func (c *collector) archive(r io.ReaderAt, size int64) error {
	lim := c.limits
	z, err := openArchive(r, size, lim)
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	b := budget{limits: lim}
	b.left.Store(size*lim.ratio + lim.spare)
	samples, header, err := contents(z, lim)
	if err == nil {
		err = c.header(header, &b)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	c.format.empty = step.WithHint(errEmpty, "the log holds no samples/; was the run stopped before its first sample, or is the log of a newer form?")
	parse := func(f *zip.File) parsed {
		raw, err := b.read(f)
		var rows []Row
		if err == nil {
			rows, err = parseInspect(raw, c.opt)
		}
		if err != nil {
			err = fmt.Errorf("%s: %.100q: %w", c.name, f.Name, err)
		}
		return parsed{rows, err}
	}
	produce := func(yield func(*zip.File) error) error {
		for _, f := range samples {
			if yield(f) != nil {
				return nil
			}
		}
		return nil
	}
	return Ordered(c.opt.Workers, produce, worker(c, parse), c.take)
}

func openArchive(r io.ReaderAt, size int64, lim limits) (*zip.Reader, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("the archive is damaged: %w", err)
	}
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderMaxMemory(uint64(lim.entry)), zstd.WithDecoderConcurrency(1)))
	return z, nil
}

// contents checks the names of an archive and finds what is read.
func contents(z *zip.Reader, lim limits) (samples []*zip.File, header *zip.File, err error) {
	if len(z.File) > lim.entries {
		return nil, nil, fmt.Errorf("the archive has %d entries, at most %d are read", len(z.File), lim.entries)
	}
	seen := map[string]bool{}
	for _, f := range z.File {
		switch {
		case escapes(f.Name):
			return nil, nil, fmt.Errorf("the entry %.100q leaves the archive", f.Name)
		case seen[f.Name]:
			return nil, nil, fmt.Errorf("the entry %.100q stands twice: which one counts is not known", f.Name)
		case f.Name == "header.json":
			header = f
		case strings.HasPrefix(f.Name, "samples/") && strings.HasSuffix(f.Name, ".json"):
			samples = append(samples, f)
		}
		seen[f.Name] = true
	}
	return samples, header, nil
}

func escapes(name string) bool {
	return name == "" || strings.ContainsAny(name, "\\\x00") || path.IsAbs(name) || path.Clean("/"+name) != "/"+strings.TrimSuffix(name, "/")
}

// inspectHeader is what is said of the whole run.
type inspectHeader struct {
	Status string `json:"status"`
	Eval   struct {
		Packages map[string]string `json:"packages"`
	} `json:"eval"`
	Results *struct {
		Total int `json:"total_samples"`
	} `json:"results"`
}

// header notes a run that did not end well: samples are missing then.
func (c *collector) header(f *zip.File, b *budget) error {
	if f == nil {
		c.format.Notes = append(c.format.Notes, "the log has no header: the run did not end, and samples may be missing")
		return nil
	}
	raw, err := b.read(f)
	if err != nil {
		return err
	}
	var h inspectHeader
	if _, err := decode(raw, &h); err != nil {
		return fmt.Errorf("header.json: %w", err)
	}
	c.rep.Version = clip(h.Eval.Packages["inspect_ai"], 100)
	if h.Status != "success" {
		c.format.Notes = append(c.format.Notes, fmt.Sprintf("the log's status is %.20q: samples may be missing", h.Status))
	}
	return nil
}

// budget bounds what an archive unpacks to, whatever its directory says.
type budget struct {
	limits
	left atomic.Int64
}

func (b *budget) read(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	most := min(b.entry, max(b.left.Load(), 0))
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(r, most+1))
	switch {
	case n > b.entry:
		return nil, fmt.Errorf("it unpacks to more than %d bytes", b.entry)
	case b.left.Add(-n) < 0:
		return nil, fmt.Errorf("the archive unpacks to more than %d times its size", b.ratio)
	case err != nil:
		return nil, fmt.Errorf("damaged: %w", err)
	}
	return buf.Bytes(), nil
}
