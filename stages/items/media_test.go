package items_test

import (
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/items"
)

func TestMedia(t *testing.T) {
	const sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, c := range []struct{ role, media, want string }{
		{"user", `[{"image":"images/a.png","sha256":"` + sum + `"}]`, ""},
		{"user", `[{"image":"a.JPG"},{"video":"b.mp4"}]`, ""},
		{"user", `[{"image":"a.png","video":"b.mp4"}]`, "name either an image or a video"},
		{"user", `[{}]`, "name either an image or a video"},
		{"user", `[{"image":"../a.png"}]`, "is not a path inside the folder"},
		{"user", `[{"image":"/etc/a.png"}]`, "is not a path inside the folder"},
		{"user", `[{"image":"a/../../b.png"}]`, "is not a path inside the folder"},
		{"user", `[{"image":"a\\b.png"}]`, "is not a path inside the folder"},
		{"user", `[{"image":"a.svg"}]`, "ends like no image that is known"},
		{"user", `[{"video":"a.png"}]`, "ends like no video that is known"},
		{"user", `[{"image":"a.png","sha256":"12"}]`, "sha256"},
		{"user", `[{"image":"a.png","sha256":"` + strings.Repeat("0", 64) + `"}]`, "all zeros"},
		{"user", `[{"image":"a.png","alt":"x"}]`, "unknown field"},
		{"assistant", `[{"image":"a.png"}]`, "only a user's may"},
		{"user", `[` + strings.Repeat(`{"image":"a.png"},`, 16) + `{"image":"a.png"}]`, "17 files, at most 16"},
	} {
		line := `{"id":"a","input":[{"role":"` + c.role + `","content":"","media":` + c.media + `}],"scorer":"exact","answer":"x"}` + "\n"
		err := items.Read(strings.NewReader(line), func(it items.Item) error {
			if len(it.Shown()) == 0 || it.Shown()[0].MIME() == "" {
				t.Errorf("%s: shows %v", c.media, it.Shown())
			}
			return nil
		})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.media, err)
		}
	}
}
