package hardware

import (
	"maps"
	"time"
)

// Sources of what is known of an endpoint's hardware.
const (
	FromFile  = "file"
	FromMeter = "meter"
)

// Seen is what is known of the hardware under an endpoint.
type Seen struct {
	// Identity enters the keys of what is measured; nil = nothing is known, or
	// nothing that may enter.
	Identity *Identity
	// Shown is for people and the record, and enters no key of a measurement.
	Shown Doc
	// Warnings are for the line that says that the pin is done.
	Warnings []string
}

// Doc is what a pin shows of the hardware besides its identity: which devices,
// by UUID, and why something is not known. It holds nothing that changes from one
// look at the same machine to the next.
type Doc struct {
	Source  string  `json:"source,omitempty"` // file | meter | "" = none
	Report  *Report `json:"report,omitempty"`
	Unknown *Reason `json:"unknown,omitempty"` // why the GPUs are not known
}

// Unseen is an endpoint of whose hardware nothing is known.
func Unseen(code, detail string) Seen {
	return Seen{Shown: Doc{Unknown: &Reason{code, detail}}}
}

// See makes Seen of a report whose GPUs are selected. A machine without GPUs has an
// identity only if a file says so: see docs/adr/0008-hardware.md.
func See(source string, r *Report) Seen {
	s := Seen{Shown: Doc{Source: source, Report: r.lasting()}}
	switch {
	case r.GPUs == nil:
		why := r.Unknown["gpus"]
		s.Shown.Unknown = &why
	case len(r.GPUs) == 0:
		s.Shown.Unknown = &Reason{Code: NoGPU}
	}
	if source == FromFile || len(r.GPUs) > 0 {
		id := r.Identity()
		s.Identity = &id
	}
	return s
}

// lasting leaves out what changes from look to look, and who looked: a new meter
// is no new evidence.
func (r *Report) lasting() *Report {
	out := *r
	out.Made, out.Meter = time.Time{}, ""
	if r.GPUs == nil {
		return &out
	}
	out.GPUs = make([]GPU, len(r.GPUs))
	for i, g := range r.GPUs {
		g.Processes = nil
		g.Unknown = maps.Clone(g.Unknown)
		if g.Unknown == nil {
			g.Unknown = Unknown{}
		}
		g.Unknown["compute_processes"] = Reason{NotApplicable, "it changes from look to look"}
		out.GPUs[i] = g
	}
	return &out
}
