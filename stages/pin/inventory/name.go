package inventory

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/cupel-dev/cupel/engine/step"
)

// Names of what stands in a model folder and is no file of the model.
const (
	File    = "cupel-inventory.json"
	PullDir = ".cupel-pull" // unfinished files of a pull
)

// foreign are folders that other tools leave in a model folder; no engine loads
// from them.
var foreign = []string{".git", ".cache/huggingface"}

// own reports whether a path, with slashes, is none of the model's.
func own(path string) bool {
	for _, dir := range append([]string{PullDir}, foreign...) {
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return path == File || strings.HasPrefix(path, File+".")
}

// CheckPath says why a path that somebody else wrote must not become the name
// of a file below a folder, nil when it may.
func CheckPath(path string) error {
	switch {
	case path == "":
		return fmt.Errorf("a file without a name")
	case !utf8.ValidString(path):
		return fmt.Errorf("file name %+q is not UTF-8", path)
	case len(path) > 1024:
		return fmt.Errorf("file name %q… of %d bytes, and at most 1024 are allowed", path[:40], len(path))
	case strings.ContainsFunc(path, unicode.IsControl):
		return fmt.Errorf("file name %+q holds a control character", path)
	case strings.ContainsFunc(path, disguises):
		return fmt.Errorf("file name %+q holds a character that changes how it is shown", path)
	case strings.Contains(path, `\`):
		return fmt.Errorf("file name %q holds a backslash, which parts folders on some systems", path)
	case strings.HasPrefix(path, "/"):
		return fmt.Errorf("file name %q begins with a slash and would lead out of the folder", path)
	case own(path):
		return fmt.Errorf("file name %q is reserved for what tools keep in a model folder", path)
	}
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case part == "..":
			return fmt.Errorf("file name %q leads out of the folder", path)
		case part == "", part == ".":
			return fmt.Errorf("file name %q has an empty part", path)
		case strings.EqualFold(part, ".git"):
			return fmt.Errorf("file name %q lies in a .git folder", path)
		case len(part) > 255:
			return fmt.Errorf("file name %q… has a part of %d bytes, and at most 255 are allowed", path[:40], len(part))
		}
	}
	return nil
}

// disguises reports characters that turn or break the line that a name is shown
// on, so that it looks like another one.
func disguises(r rune) bool {
	return unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// CheckPaths says which two of these paths cannot both be files of one folder,
// also on a file system that ignores case.
func CheckPaths(paths []string) error {
	seen, folders := map[string]string{}, map[string]string{}
	for _, p := range paths {
		key := folded(p)
		if before, ok := seen[key]; ok {
			return clash(before, p)
		}
		seen[key] = p
		for i, r := range key {
			if r == '/' {
				folders[key[:i]] = p
			}
		}
	}
	for key, p := range seen {
		if inside, ok := folders[key]; ok {
			return step.WithHint(fmt.Errorf("%q is a file, and %q lies in a folder of that name", p, inside), "leave one out with --exclude")
		}
	}
	return nil
}

func clash(a, b string) error {
	if a == b {
		return fmt.Errorf("file %q is listed twice", a)
	}
	return step.WithHint(fmt.Errorf("files %q and %q are one file where names ignore case", a, b), "leave one out with --exclude")
}

// folded is equal for names that some file system takes for one.
func folded(path string) string { return cases.Fold().String(norm.NFC.String(path)) }
