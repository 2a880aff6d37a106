package publish

import (
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
)

// unknownHardware says of which candidates nobody knows what they run on.
func (b *builder) unknownHardware() {
	for name, c := range b.rec.Candidates {
		if c.Pin == nil || c.Pin.Hardware != nil && len(c.Pin.Hardware.GPUs) > 0 {
			continue // not observed at all is said already
		}
		why := whyNoGPU(c)
		b.unknown("candidates."+name+".hardware.gpu", why)
		b.unknown("candidates."+name+".hardware.driver", why)
	}
}

func whyNoGPU(c evidence.CandidateRecord) string {
	if c.Hardware == nil || c.Hardware.Unknown == nil {
		return "nobody looked"
	}
	u := *c.Hardware.Unknown
	if u.Detail == "" {
		return u.Code + ": " + hardware.Means(u.Code)
	}
	return u.Code + ": " + u.Detail
}
