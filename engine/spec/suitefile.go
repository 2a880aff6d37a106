package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cupel-dev/cupel/engine/step"
)

// suiteFile is what the engine needs of suite.json; the rest is for people and
// for `cupel items`.
type suiteFile struct {
	Name    string       `json:"name"`
	Version string       `json:"version"`
	Items   string       `json:"items"`
	SHA256  *step.Digest `json:"sha256"`
	Count   *int         `json:"count"`
	Digest  step.Digest  `json:"digest"`
	Media   []struct {
		File   string      `json:"file"`
		SHA256 step.Digest `json:"sha256"`
	} `json:"media"`
	Split *struct {
		HeldOut struct {
			File      string      `json:"file"`
			Count     int         `json:"count"`
			Content   step.Digest `json:"sha256"`
			Encrypted step.Digest `json:"encrypted_sha256"`
			Index     string      `json:"index"`
			IndexSum  step.Digest `json:"index_sha256"`
			Scorers   []string    `json:"scorers"`
		} `json:"held_out"`
	} `json:"split"`
}

func readSuiteFile(dir, name string) (m suiteFile, manifest string, err error) {
	manifest = filepath.Join(name, "suite.json")
	src, err := readRegular(locate(dir, manifest), maxFileBytes)
	if err != nil {
		return m, manifest, fmt.Errorf("%s: %w", clip(manifest), err)
	}
	if _, errs := parseJSON(manifest, src); len(errs) > 0 {
		return m, manifest, errs.err()
	}
	if err := json.Unmarshal(src, &m); err != nil {
		return m, manifest, fmt.Errorf("%s: %w", clip(manifest), err)
	}
	if m.Name == "" || !filepath.IsLocal(m.Items) {
		return m, manifest, fmt.Errorf("%s: name and items are required, and items is a file inside the folder", clip(manifest))
	}
	return m, manifest, nil
}

func openSuiteFolder(dir, name string) (Suite, error) {
	m, manifest, err := readSuiteFile(dir, name)
	if err != nil {
		return Suite{}, err
	}
	file, count, err := hashFile(dir, filepath.Join(name, m.Items), maxItemsBytes, maxItemBytes)
	if err != nil {
		return Suite{}, err
	}
	switch {
	case count == 0:
		return Suite{}, fmt.Errorf("%s holds no item", clip(file.Name))
	case m.SHA256 != nil && *m.SHA256 != file.Digest:
		return Suite{}, step.WithHint(fmt.Errorf("%s has digest %s, %s says %s", clip(file.Name), file.Digest.Short(), clip(manifest), m.SHA256.Short()), "a frozen suite does not change: restore the file, or freeze a new version")
	case m.Count != nil && *m.Count != count:
		return Suite{}, fmt.Errorf("%s holds %d items, %s says %d", clip(file.Name), count, clip(manifest), *m.Count)
	}
	media, err := openMedia(dir, name, m)
	return Suite{Name: m.Name, Version: m.Version, Items: file, Count: count, Media: media, Dir: locate(dir, name)}, err
}

// maxMediaBytes bounds a file that items show; which of them are pictures, and
// so smaller, is known to those who read items.
const maxMediaBytes = 128 << 20

// openMedia resolves what the items of a frozen suite show.
func openMedia(dir, name string, m suiteFile) ([]File, error) {
	var out []File
	for _, shown := range m.Media {
		if !filepath.IsLocal(shown.File) {
			return nil, fmt.Errorf("%s: media are files inside the folder, and %s is not", clip(name), clip(shown.File))
		}
		file, _, err := hashFile(dir, filepath.Join(name, shown.File), maxMediaBytes, 0)
		if err == nil && file.Digest != shown.SHA256 {
			err = step.WithHint(fmt.Errorf("%s has digest %s, suite.json says %s", clip(file.Name), file.Digest.Short(), shown.SHA256.Short()), "a frozen suite does not change: restore the file, or freeze a new version")
		}
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	return out, nil
}

// errNoParts says that a campaign asks for a part of what has none.
var errNoParts = errors.New("has no parts")

// openPart resolves the part of a suite that a workload takes; "" is what
// everybody may read, and so is the development part.
func openPart(dir, name, split string) (Suite, error) {
	if split == "" {
		return openSuite(dir, name)
	}
	hint := "drop split, or make a frozen suite with a held-out part: `cupel items split`, then `cupel items freeze`"
	if info, err := os.Stat(locate(dir, name)); err == nil && !info.IsDir() {
		return Suite{}, step.WithHint(fmt.Errorf("%s is one file and %w: split takes the %s part of a frozen suite", clip(name), errNoParts, split), hint)
	}
	if split == SplitHeldOut {
		return openHeldOut(dir, name, hint)
	}
	m, _, err := readSuiteFile(dir, name)
	if err == nil && m.Split == nil {
		err = step.WithHint(fmt.Errorf("%s %w: nothing of it is held out", clip(name), errNoParts), hint)
	}
	if err != nil {
		return Suite{}, err
	}
	return openSuite(dir, name)
}

// openHeldOut resolves the held-out part by what can be read without opening
// it.
func openHeldOut(dir, name, hint string) (Suite, error) {
	m, manifest, err := readSuiteFile(dir, name)
	if err != nil {
		return Suite{}, err
	}
	if m.Split == nil || m.Split.HeldOut.Count == 0 || m.Digest.IsZero() {
		return Suite{}, step.WithHint(fmt.Errorf("%s %w: nothing of it is held out", clip(name), errNoParts), hint)
	}
	h := m.Split.HeldOut
	if !filepath.IsLocal(h.File) || !filepath.IsLocal(h.Index) {
		return Suite{}, fmt.Errorf("%s: the files of split.held_out are inside the folder", clip(manifest))
	}
	sealed, _, err := hashFile(dir, filepath.Join(name, h.File), maxItemsBytes, 0)
	if err != nil {
		return Suite{}, err
	}
	index, count, err := hashFile(dir, filepath.Join(name, h.Index), maxItemsBytes, maxItemBytes)
	if err != nil {
		return Suite{}, err
	}
	for _, file := range []struct {
		got  File
		want step.Digest
	}{{sealed, h.Encrypted}, {index, h.IndexSum}} {
		if file.got.Digest != file.want {
			return Suite{}, step.WithHint(fmt.Errorf("%s has digest %s, %s says %s", clip(file.got.Name), file.got.Digest.Short(), clip(manifest), file.want.Short()), "a frozen suite does not change: restore the file, or freeze a new version")
		}
	}
	if count != h.Count {
		return Suite{}, fmt.Errorf("%s lists %d items, %s says %d", clip(index.Name), count, clip(manifest), h.Count)
	}
	return Suite{
		Name: m.Name, Version: m.Version, Items: sealed, Count: count, Dir: locate(dir, name),
		HeldOut: &HeldOut{Suite: m.Digest, Content: h.Content, Index: index, Scorers: h.Scorers},
	}, nil
}
