package items

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/engine/step"
)

// Media is a picture or a film that a user's message shows after its text: a
// file in the folder of the set.
type Media struct {
	Image  string      `json:"image,omitempty"` // path in the folder, with slashes: images/a.png
	Video  string      `json:"video,omitempty"` // instead of Image
	SHA256 step.Digest `json:"sha256,omitzero"` // of the content; freezing writes it
}

// UnmarshalJSONFrom tells a digest of zeros, which no file has, from none.
func (m *Media) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var in struct {
		Image  string       `json:"image"`
		Video  string       `json:"video"`
		SHA256 *step.Digest `json:"sha256"`
	}
	if err := decodeNext(dec, &in); err != nil {
		return err
	}
	*m = Media{Image: in.Image, Video: in.Video}
	if in.SHA256 == nil {
		return nil
	}
	if in.SHA256.IsZero() {
		return errors.New("sha256 is all zeros, which no file has; leave it out, and freezing writes it")
	}
	m.SHA256 = *in.SHA256
	return nil
}

// Limits of media: files of a message, and bytes of a file.
const (
	MaxMedia = 16
	MaxImage = 10 << 20
	MaxVideo = 128 << 20
)

// mediaTypes are the MIME types by the ends of file names.
var mediaTypes = map[string]map[string]string{
	"image": {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"},
	"video": {".mp4": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime"},
}

// Path is the file, whatever its kind.
func (m *Media) Path() string { return m.Image + m.Video }

// Kind is image or video.
func (m *Media) Kind() string {
	if m.Video != "" {
		return "video"
	}
	return "image"
}

// MIME is the type of the content as its name says it, "" for another name.
func (m *Media) MIME() string { return mediaTypes[m.Kind()][strings.ToLower(path.Ext(m.Path()))] }

// MaxBytes is the size that the file may have.
func (m *Media) MaxBytes() int64 {
	if m.Video != "" {
		return MaxVideo
	}
	return MaxImage
}

func (m *Media) check() error {
	if (m.Image == "") == (m.Video == "") {
		return errors.New("media: name either an image or a video")
	}
	p := m.Path()
	if !fs.ValidPath(p) || p == "." || strings.Contains(p, `\`) {
		return step.WithHint(fmt.Errorf("media: %s is not a path inside the folder of the items", clip(p)), `write it with slashes and without "..": images/a.png`)
	}
	if m.MIME() == "" {
		return fmt.Errorf("media: the name %s ends like no %s that is known", clip(p), m.Kind())
	}
	return nil
}

func (m *Message) checkMedia() error {
	if len(m.Media) > 0 && m.Role != "user" {
		return fmt.Errorf("media: a message of the role %s shows some, and only a user's may", m.Role)
	}
	if len(m.Media) > MaxMedia {
		return fmt.Errorf("media: %d files, at most %d are allowed", len(m.Media), MaxMedia)
	}
	for i := range m.Media {
		if err := m.Media[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// Shown lists everything that an item shows, in the order of its messages.
func (it *Item) Shown() []Media {
	var out []Media
	for _, m := range it.Input {
		out = append(out, m.Media...)
	}
	return slices.Clip(out)
}
