// Package ioreport reads the energy counters of Apple's chips. What a channel's name
// means is told here, for every system and tested with recorded lists; the calls into
// libIOReport are in files for darwin/arm64, and were not run on a Mac.
package ioreport

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/stages/hardware"
	"github.com/cupel-dev/cupel/stages/trace"
)

// group is the group of IOReport whose channels count energy.
const group = "Energy Model"

// Channel is one channel as IOReport lists it.
type Channel struct {
	Name string // "GPU Energy"
	Unit string // mJ, uJ or nJ, perhaps with spaces around it
}

// rail is a part of the chip and the names of its channels, in families: the first
// family of which there is a channel is taken, and no other, for a package's channel
// contains those of its dies and blocks. Names match as a whole: among some 320
// channels there are many, such as PACC0_CPU or GPU SRAM0, that contain a rail's name
// and are inside a rail, or beside it.
type rail struct {
	domain   trace.Domain
	families []*regexp.Regexp
}

func families(patterns ...string) (out []*regexp.Regexp) {
	for _, p := range patterns {
		out = append(out, regexp.MustCompile(`^(?:`+p+`)$`))
	}
	return out
}

// blocks are the families of a part that is named alone, by block, or by block and
// die (DRAM, DRAM0, DRAM0_1).
func blocks(name string) []*regexp.Regexp {
	return families(name, name+`\d{1,2}`, name+`\d{1,2}_\d{1,2}`)
}

var rails = []rail{
	{trace.AppleGPU, append(families(`GPU Energy`), blocks(`GPU`)...)}, // GPU Energy is in nJ, and fresh; GPU in mJ
	{trace.AppleCPU, families(`CPU Energy`, `DIE_\d{1,2}_CPU Energy`)}, // an Ultra has one for each die
	{trace.AppleANE, blocks(`ANE`)},
	{trace.AppleDRAM, blocks(`DRAM`)},
	{trace.AppleDCS, blocks(`DCS`)},
}

// energyUnits are those of channels that count energy.
var energyUnits = []string{"mJ", "uJ", "nJ"}

// Chosen is a channel of a list that belongs to a rail.
type Chosen struct {
	At     int // in the list
	Domain trace.Domain
	Unit   string
}

// Choose finds the channels of each rail in a list, and says which rails are not
// there. A name that is there twice, or whose unit is none of energy, makes its rail
// unreadable: half of a rail is no rail.
func Choose(list []Channel) (chosen []Chosen, missing []trace.Missing) {
	for _, r := range rails {
		of, why := r.in(list)
		if why != nil {
			missing = append(missing, *why)
			continue
		}
		chosen = append(chosen, of...)
	}
	return chosen, missing
}

func (r rail) in(list []Channel) (out []Chosen, why *trace.Missing) {
	why = &trace.Missing{Device: device, Domain: r.domain, What: group}
	for _, family := range r.families {
		seen := map[string]bool{}
		for i, c := range list {
			if !family.MatchString(c.Name) {
				continue
			}
			unit := strings.TrimSpace(c.Unit)
			switch {
			case seen[c.Name]:
				why.Reason, why.Detail = hardware.Implausible, fmt.Sprintf("%q is there twice", c.Name)
				return nil, why
			case !slices.Contains(energyUnits, unit):
				why.Reason, why.Detail = hardware.Implausible, fmt.Sprintf("the unit of %q is %.20q", c.Name, c.Unit)
				return nil, why
			}
			seen[c.Name] = true
			out = append(out, Chosen{i, r.domain, unit})
		}
		if out != nil {
			return out, nil
		}
	}
	why.Reason, why.Detail = hardware.NotSupported, "this chip, or this macOS, has no such channel"
	return nil, why
}
