package spec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/diskfile"
	"github.com/cupel-dev/cupel/engine/step"
)

// mediaKind is what a preflight check may show.
type mediaKind struct {
	check string
	exts  []string
	most  int64 // bytes
}

var (
	pictureExts = []string{".png", ".jpg", ".jpeg", ".webp"}
	filmExts    = []string{".mp4", ".webm", ".mov"}

	mediaKinds = []mediaKind{{"image", pictureExts, 10 << 20}, {"ocr", pictureExts, 10 << 20}, {"video", filmExts, 128 << 20}}
)

func (f *files) findMedia() {
	for _, k := range mediaKinds {
		n := f.root.get("preflight").get(k.check).get("file")
		name, ok := n.str()
		if !ok {
			continue
		}
		file, err := k.open(f.dir, name)
		if err != nil {
			f.fail(n, path{"preflight", k.check, "file"}, err)
			continue
		}
		f.media[k.check] = file
	}
}

// open hashes a picture or a film. A link is refused: what is sent to an
// endpoint must be what stands beside the campaign, and not what somebody else
// makes a name point to.
func (k mediaKind) open(dir, name string) (File, error) {
	if !slices.Contains(k.exts, strings.ToLower(filepath.Ext(name))) {
		return File{}, step.WithHint(fmt.Errorf("%s: found the extension %q", clip(name), clip(filepath.Ext(name))), "allowed "+join(k.exts, 8))
	}
	info, err := os.Lstat(locate(dir, name))
	switch {
	case err != nil:
		return File{}, fmt.Errorf("%s: %w", clip(name), diskfile.Cause(err))
	case info.Mode()&os.ModeSymlink != 0:
		return File{}, step.WithHint(fmt.Errorf("%s is a symbolic link", clip(name)), "name the file itself")
	}
	file, _, err := hashFile(dir, name, k.most, 0)
	if err == nil && file.Size == 0 {
		err = errors.New(clip(name) + " is empty")
	}
	return file, err
}

// attachMedia puts the files into the campaign.
func (f *files) attachMedia(c *Campaign, byPath map[string]File) {
	for check, file := range f.media {
		byPath[file.Path] = file
		switch check {
		case "image":
			c.Preflight.Image.File = &file
		case "ocr":
			c.Preflight.OCR.File = &file
		case "video":
			c.Preflight.Video.File = file
		}
	}
}
