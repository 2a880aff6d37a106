package artifact

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// ranOn is what a pin knows of the machine. GPUs of several classes have no one
// name and no one limit; what is told is then all of them.
func (r *Record) ranOn(p *evidence.PinDoc) {
	id := p.Hardware
	if id == nil || len(id.GPUs) == 0 {
		return
	}
	var names []string
	count, limits := 0, map[uint32]bool{}
	for _, c := range id.GPUs {
		count += c.Count
		name := c.Name
		if c.MIG != "" && c.MIG != "disabled" {
			name += " MIG " + c.MIG
		}
		if len(id.GPUs) > 1 {
			name = fmt.Sprintf("%d x %s", c.Count, name)
		}
		names = append(names, name)
		limits[c.PowerLimitMW] = true
	}
	h := &r.Hardware
	h.GPU, h.GPUs, h.Driver = said(strings.Join(names, " + ")), is(float64(count)), said(id.Driver)
	if w := id.GPUs[0].PowerLimitMW; len(limits) == 1 && w > 0 {
		h.PowerLimitW = is(float64(w) / 1000)
	}
}
