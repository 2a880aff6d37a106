package suite

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/items"
)

// SplitOptions say how items are divided.
type SplitOptions struct {
	Salt       string   // key of the hash; the same one gives the same sides
	Share      float64  // of groups that are held out, 0 < Share < 1
	Near       float64  // Jaccard similarity from which items stay together, 0 = 0.85
	Recipients []string // age public keys
	Parent     *Set     // sides of its items stay; may be nil
	Report     string   // file name of build-report.json to take along, or ""
}

// SplitReport counts what a split did.
type SplitReport struct {
	Development int      `json:"development"`
	HeldOut     int      `json:"held_out"`
	Groups      int      `json:"near_groups"`          // groups of near-duplicates that were kept together
	Unchecked   int      `json:"near_unchecked"`       // items with more candidates than were compared
	LeftOut     []string `json:"left_out"`             // ids near items of both sides
	Strata      Counts   `json:"development_by_label"` // label -> value -> items
	Sealed      Counts   `json:"held_out_by_label"`
}

// DefaultNear is the Jaccard similarity from which items are near-duplicates.
const DefaultNear = 0.85

func (o *SplitOptions) complete() (err error) {
	if o.Parent != nil {
		if o.Parent.Split == nil {
			return fmt.Errorf("the parent %s is not split", o.Parent.Name)
		}
		o.inherit(o.Parent.Split)
	}
	if o.Near == 0 {
		o.Near = DefaultNear
	}
	if o.Recipients, err = ParseRecipients(o.Recipients); err != nil {
		return err
	}
	switch {
	case o.Salt == "":
		return step.WithHint(errors.New("there is no salt"), "give a text of your own; the next version needs the same one, or its parent")
	case !(o.Share > 0 && o.Share < 1):
		return fmt.Errorf("a held-out share of %v: want more than 0 and less than 1", o.Share)
	case len(o.Recipients) == 0:
		return step.WithHint(errors.New("there is no recipient, so nobody could open the held-out items"), "make an identity with `age-keygen -o FILE` outside the repository and name its public key")
	}
	return nil
}

func (o *SplitOptions) inherit(p *Split) {
	if o.Salt == "" {
		o.Salt = p.Salt
	}
	if o.Share == 0 {
		o.Share = p.Share
	}
	if o.Near == 0 {
		o.Near = p.Near
	}
	if len(o.Recipients) == 0 {
		o.Recipients = p.Recipients
	}
}

// WriteSplit divides the items of a file and publishes the folder dir.
func WriteSplit(from *Set, dir string, o SplitOptions) (SplitReport, error) {
	if from.dir != "" {
		return SplitReport{}, fmt.Errorf("%s is a folder; a split begins with a .jsonl file", from.Name)
	}
	if err := errors.Join(o.complete(), Free(dir)); err != nil {
		return SplitReport{}, err
	}
	sides, rep, err := divide(from, o)
	if err != nil {
		return rep, err
	}
	err = Publish(dir, func(tmp string) error {
		sp := Split{Salt: o.Salt, Share: o.Share, Near: o.Near, Recipients: o.Recipients}
		if err := writeParts(from, tmp, sides, &sp, &rep); err != nil {
			return err
		}
		if o.Report != "" {
			if _, err := copyFile(o.Report, filepath.Join(tmp, ReportFile)); err != nil {
				return err
			}
		}
		return WriteJSON(filepath.Join(tmp, SplitFile), sp)
	})
	return rep, err
}

func divide(from *Set, o SplitOptions) ([]side, SplitReport, error) {
	fixed, err := published(o.Parent)
	if err != nil {
		return nil, SplitReport{}, err
	}
	var all []member
	near, err := newNear(o.Near)
	if err != nil {
		return nil, SplitReport{}, err
	}
	err = from.Open(func(it items.Item) error {
		near.add(&it, len(all))
		all = append(all, member{it.ID, it.Cluster})
		return noMedia(&it)
	})
	if err != nil {
		return nil, SplitReport{}, err
	}
	together, err := near.groups()
	if err != nil {
		return nil, SplitReport{}, err
	}
	rep := SplitReport{Groups: len(together), Unchecked: near.Unchecked, LeftOut: []string{}, Strata: Counts{}, Sealed: Counts{}}
	sides := assign(all, together, o.Salt, o.Share, func(id string) side { return fixed[id] })
	for i, s := range sides {
		switch s {
		case heldOut:
			rep.HeldOut++
		case development:
			rep.Development++
		default:
			rep.LeftOut = append(rep.LeftOut, all[i].id)
		}
	}
	if rep.HeldOut == 0 || rep.Development == 0 {
		return nil, rep, step.WithHint(fmt.Errorf("of %d items %d would be held out: one side is empty", len(all), rep.HeldOut), "give another share or more items; clusters and near-duplicates stay together")
	}
	return sides, rep, nil
}

func published(parent *Set) (map[string]side, error) {
	fixed := map[string]side{}
	if parent == nil {
		return fixed, nil
	}
	err := parent.Open(func(it items.Item) error {
		fixed[it.ID] = development
		return nil
	})
	if err != nil {
		return nil, err
	}
	return fixed, parent.Index(func(e Entry) error {
		fixed[e.ID] = heldOut
		return nil
	})
}

// parts are the three files of a split while they are written.
type parts struct {
	dev, cipher, index *hashed
	age                io.WriteCloser
	plain              *tally
	scorers            map[string]bool
}

// tally hashes the plain text on its way into the encryption.
type tally struct {
	w   io.Writer
	sum interface {
		io.Writer
		Sum([]byte) []byte
	}
}

func (t *tally) Write(p []byte) (int, error) {
	t.sum.Write(p)
	return t.w.Write(p)
}

func writeParts(from *Set, tmp string, sides []side, sp *Split, rep *SplitReport) error {
	p, err := createParts(tmp, sp.Recipients)
	if err != nil {
		return err
	}
	defer p.abandon()
	i := 0
	err = from.Open(func(it items.Item) error {
		if i >= len(sides) {
			return fmt.Errorf("%s grew while it was read", from.Name)
		}
		i++
		switch sides[i-1] {
		case heldOut:
			rep.Sealed.Add(it.Strata)
			return p.seal(&it)
		case development:
			rep.Strata.Add(it.Strata)
			return writeItem(p.dev, &it)
		}
		return nil
	})
	if err != nil {
		return err
	}
	sp.Development = Part{File: ItemsFile, Count: rep.Development}
	sp.HeldOut = Sealed{Part: Part{File: SealedFile, Count: rep.HeldOut}, Index: IndexFile, Scorers: sortedKeys(p.scorers)}
	return p.finish(sp)
}

func writeItem(w io.Writer, it *items.Item) error {
	b, err := Encode(it)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

func (p *parts) seal(it *items.Item) error {
	for _, s := range it.Scorer {
		p.scorers[s.Name] = true
	}
	if err := writeItem(p.plain, it); err != nil {
		return err
	}
	b, err := encodeLine(Entry{it.ID, it.Strata, it.Source, it.Weight, it.Cluster})
	if err == nil {
		_, err = p.index.Write(b)
	}
	return err
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
