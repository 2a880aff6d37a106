package artifact

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/cupel-dev/cupel/engine/step"
)

// Limits of an archive.
const (
	maxEntries = 50_000
	maxHeader  = MaxBytes // bytes that the header unpacks to
)

// readInspectArchive reads header.json of an .eval log. Nothing is unpacked to
// disk, and only that one entry is unpacked at all.
func readInspectArchive(content []byte) (*Document, error) {
	if len(content) > MaxBytes {
		return nil, fmt.Errorf("the file is larger than %d MiB", MaxBytes>>20)
	}
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("the archive is damaged: %w", err)
	}
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderMaxMemory(maxHeader), zstd.WithDecoderConcurrency(1)))
	header, err := headerOf(z)
	if err != nil {
		return nil, err
	}
	raw, err := unpack(header)
	if err != nil {
		return nil, fmt.Errorf("header.json: %w", err)
	}
	value, nans, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("header.json: %w", err)
	}
	f := &file{doc: node{v: value}, content: content}
	if nans > 0 {
		f.notes = append(f.notes, fmt.Sprintf("%d values are NaN or Infinity, and were read as unknown", nans))
	}
	for i := range Formats {
		if Formats[i].Name == "inspect" && Formats[i].is(f) {
			return f.finish(&Formats[i])
		}
	}
	return nil, errors.New("the archive's header is not that of an Inspect log")
}

// headerOf checks the names of an archive and finds the one entry that is read.
func headerOf(z *zip.Reader) (header *zip.File, err error) {
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("the archive has %d entries, at most %d are read", len(z.File), maxEntries)
	}
	seen := make(map[string]bool, len(z.File))
	for _, f := range z.File {
		switch {
		case escapes(f.Name):
			return nil, fmt.Errorf("the entry %.100q leaves the archive", f.Name)
		case seen[f.Name]:
			return nil, fmt.Errorf("the entry %.100q stands twice: which one counts is not known", f.Name)
		case f.Name == "header.json":
			header = f
		}
		seen[f.Name] = true
	}
	if header == nil {
		return nil, step.WithHint(errors.New("the archive has no header.json"), "an Inspect log without one was stopped before its end; other archives are not read")
	}
	return header, nil
}

func escapes(name string) bool {
	return name == "" || strings.ContainsAny(name, "\\\x00") || path.IsAbs(name) || path.Clean("/"+name) != "/"+strings.TrimSuffix(name, "/")
}

func unpack(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, maxHeader+1))
	switch {
	case len(raw) > maxHeader:
		return nil, fmt.Errorf("it unpacks to more than %d MiB", maxHeader>>20)
	case err != nil:
		return nil, fmt.Errorf("damaged: %w", err)
	}
	return raw, nil
}
