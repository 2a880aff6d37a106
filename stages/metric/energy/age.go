package energy

import (
	"slices"
	"sort"

	"github.com/cupel-dev/cupel/stages/trace"
)

// writes are the moments at which the driver says that it wrote a channel, ascending;
// nil where it does not say. Where it does, nobody needs to guess when a change happened.
func writes(tr *trace.Trace, channel int) (at []int64) {
	of := tr.Channels[channel]
	i := slices.IndexFunc(tr.Channels, func(c trace.Channel) bool {
		return c.Quantity == trace.Age && c.Device == of.Device && c.Domain == of.Domain && c.Source == of.Source && c.Unit == "ns"
	})
	if i < 0 {
		return nil
	}
	for _, s := range tr.Samples[i] {
		if s.E == "" && s.V >= 0 && s.V <= s.T {
			at = append(at, s.T-s.V)
		}
	}
	slices.Sort(at)
	return at
}

// narrowed is a change that the driver dates: its last write between the look before
// and the one that saw it.
func (k tick) narrowed(writes []int64) tick {
	i := sort.Search(len(writes), func(i int) bool { return writes[i] > k.look }) - 1
	if i >= 0 && writes[i] > k.before {
		k.before, k.look = writes[i], writes[i]
	}
	return k
}
