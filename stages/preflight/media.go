package preflight

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
	"github.com/cupel-dev/cupel/stages/preflight/picture"
)

const (
	shapesPrompt = "Name the shape and the colour of each thing in the picture. Say nothing else."
	linesPrompt  = "Write down the text in the picture, exactly and completely. Say nothing else."
	videoPrompt  = "Describe in a few sentences what the video shows."
)

// scene is a picture and what an answer about it holds and does not hold.
type scene struct {
	draw    func() []byte
	holds   []string
	without []string
}

// scenes are two, asked about with the same words: who cannot see may guess one
// of them and not both.
var scenes = []scene{
	{func() []byte {
		return picture.Shapes(picture.Thing{Shape: picture.Circle, Color: picture.Red}, picture.Thing{Shape: picture.Square, Color: picture.Blue})
	},
		[]string{"red", "circle", "blue", "square"}, []string{"green", "triangle"}},
	{func() []byte {
		return picture.Shapes(picture.Thing{Shape: picture.Triangle, Color: picture.Green}, picture.Thing{Shape: picture.Circle, Color: picture.Black})
	},
		[]string{"green", "triangle", "black", "circle"}, []string{"red", "blue"}},
}

func image(ctx context.Context, s *session) (evidence.Check, error) {
	if q, ok := s.Shown["image"]; ok {
		return s.file(ctx, "image", or(q.Prompt, shapesPrompt), q.Expect)
	}
	for i, sc := range scenes {
		shown := llm.Media{Kind: "image", MIME: "image/png", Data: sc.draw()}
		a, err := s.show(ctx, fmt.Sprintf("picture %d", i+1), shapesPrompt, shown)
		if err != nil {
			return evidence.Check{}, err
		}
		c := a.check(func(a answer) string { return sceneWrong(a.Text, sc) })
		if c.Verdict != evidence.CheckPassed {
			c.Reason = fmt.Sprintf("picture %d: %s", i+1, c.Reason)
			return c, nil
		}
	}
	return passed("both pictures were described"), nil
}

func sceneWrong(text string, sc scene) string {
	words := strings.FieldsFunc(fold.String(text), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, w := range sc.holds {
		if !slices.Contains(words, w) {
			return fmt.Sprintf("the answer does not say %q", w)
		}
	}
	for _, w := range sc.without {
		if slices.Contains(words, w) {
			return fmt.Sprintf("the answer says %q, which the picture does not show", w)
		}
	}
	return ""
}

// written is what the picture of the ocr check says: no words that go together,
// and no characters that look alike.
var written = []string{"KESTREL 4827", "MARROW 9163"}

func ocr(ctx context.Context, s *session) (evidence.Check, error) {
	if q, ok := s.Shown["ocr"]; ok {
		return s.file(ctx, "ocr", or(q.Prompt, linesPrompt), q.Expect)
	}
	shown := llm.Media{Kind: "image", MIME: "image/png", Data: picture.Lines(written...)}
	a, err := s.show(ctx, "the picture", linesPrompt, shown)
	return a.check(func(a answer) string { return readWrong(a.Text) }), err
}

// readWrong compares letters and digits alone: how they are set is not asked.
func readWrong(text string) string {
	bare := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, fold.String(s))
	}
	for _, line := range written {
		if !strings.Contains(bare(text), bare(line)) {
			return fmt.Sprintf("the answer does not hold %q", line)
		}
	}
	return ""
}

func video(ctx context.Context, s *session) (evidence.Check, error) {
	q, ok := s.Shown["video"]
	if !ok {
		return evidence.Check{}, step.WithHint(fmt.Errorf("it has no film"), "name one as preflight.video.file")
	}
	return s.file(ctx, "video", or(q.Prompt, videoPrompt), q.Expect)
}

// file asks about a file of the user's.
func (s *session) file(ctx context.Context, check, prompt string, expect []string) (evidence.Check, error) {
	b, err := s.input(check)
	if err != nil {
		return evidence.Check{}, err
	}
	kind := "image"
	if check == "video" {
		kind = "video"
	}
	mime, err := sniff(b, kind)
	if err != nil {
		return evidence.Check{}, fmt.Errorf("preflight.%s.file: %w", check, err)
	}
	a, err := s.show(ctx, "the file", prompt, llm.Media{Kind: kind, MIME: mime, Data: b})
	return a.check(func(a answer) string { return holdsWrong(a.Text, expect) }), err
}

func (s *session) input(name string) ([]byte, error) {
	rc, err := s.job.Open(name)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	return io.ReadAll(rc)
}

func (s *session) show(ctx context.Context, what, prompt string, m llm.Media) (answer, error) {
	r := s.ability(prompt)
	r.Messages[len(r.Messages)-1].Media = []llm.Media{m}
	return s.ask(ctx, question{what: what, request: r})
}

var fold = cases.Fold()

func holdsWrong(text string, expect []string) string {
	for _, want := range expect {
		if !strings.Contains(fold.String(text), fold.String(want)) {
			return fmt.Sprintf("the answer does not hold %q", want)
		}
	}
	return ""
}

// forms are how files begin, by kind.
var forms = []struct {
	kind, mime string
	is         func([]byte) bool
}{
	{"image", "image/png", begins("\x89PNG\r\n\x1a\n")},
	{"image", "image/jpeg", begins("\xff\xd8\xff")},
	{"image", "image/webp", func(b []byte) bool { return begins("RIFF")(b) && len(b) >= 12 && string(b[8:12]) == "WEBP" }},
	{"video", "video/webm", begins("\x1a\x45\xdf\xa3")},
	{"video", "video/quicktime", func(b []byte) bool { return box(b) == "ftyp" && string(b[8:10]) == "qt" }},
	{"video", "video/quicktime", func(b []byte) bool { return slices.Contains([]string{"moov", "mdat", "wide", "free", "skip"}, box(b)) }},
	{"video", "video/mp4", func(b []byte) bool { return box(b) == "ftyp" }},
}

func begins(with string) func([]byte) bool {
	return func(b []byte) bool { return bytes.HasPrefix(b, []byte(with)) }
}

// box is the type of the first box of an ISO media file, "" = it is too short.
func box(b []byte) string {
	if len(b) < 12 {
		return ""
	}
	return string(b[4:8])
}

// sniff finds a file's format by its content: a wrong name would make the
// endpoint's decoder fail, and that look like the model's fault.
func sniff(b []byte, kind string) (string, error) {
	for _, f := range forms {
		if f.is(b) && f.kind == kind {
			return f.mime, nil
		}
	}
	allowed := "use PNG, JPEG or WebP"
	if kind == "video" {
		allowed = "use MP4, WebM or QuickTime"
	}
	return "", step.WithHint(fmt.Errorf("its content is no %s that cupel knows", kind), allowed)
}
