package measure

import (
	"fmt"
	"io"
	"slices"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/llm"
)

// mediaInput names the input that holds a file which items show.
func mediaInput(d step.Digest) string { return "media/" + d.String() }

// showMedia makes what the items show inputs of a generation. As with the items,
// more of them are another key of the same family.
func showMedia(s *step.Step, media []spec.File) {
	if len(media) == 0 {
		return
	}
	more := step.Growth{Params: grows.Params, Inputs: slices.Clone(grows.Inputs)}
	for _, f := range media {
		name := mediaInput(f.Digest)
		s.Inputs[name] = step.Input{Blob: f.Digest, Path: f.Path}
		more.Inputs = append(more.Inputs, name)
	}
	slices.Sort(more.Inputs)
	more.Inputs = slices.Compact(more.Inputs)
	s.Grows = &more
}

// haveMedia refuses an item whose media are not at hand, before anything is sent.
func haveMedia(job step.Known, it *items.Item) error {
	for _, m := range it.Shown() {
		if _, ok := job.Step().Inputs[mediaInput(m.SHA256)]; !ok {
			return step.WithHint(fmt.Errorf("item %s shows %s, which its suite does not list", it.ID, m.Path()),
				"only frozen suites carry media: `cupel items freeze`")
		}
	}
	return nil
}

// attach puts the content of what an item shows into the messages made of it,
// which end with the item's own.
func attach(job step.Known, it *items.Item, messages []llm.Message) error {
	first := len(messages) - len(it.Input)
	for i := range it.Input {
		for _, m := range it.Input[i].Media {
			b, err := readMedia(job, &m)
			if err != nil {
				return fmt.Errorf("%s: %w", m.Path(), err)
			}
			at := &messages[first+i]
			at.Media = append(at.Media, llm.Media{Kind: m.Kind(), MIME: m.MIME(), Data: b})
		}
	}
	return nil
}

func readMedia(job step.Known, m *items.Media) ([]byte, error) {
	r, err := job.Open(mediaInput(m.SHA256))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, m.MaxBytes()+1))
	if err == nil && int64(len(b)) > m.MaxBytes() {
		err = fmt.Errorf("more than the %d bytes that a %s may have", m.MaxBytes(), m.Kind())
	}
	return b, err
}
