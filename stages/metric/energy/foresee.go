package energy

import "github.com/cupel-dev/cupel/stages/trace"

// Readable are the channels that the joules of a base would come from, were all devices
// of a recording those of a candidate. ok is false where a domain is missing, be it on
// one device. Of a header without a recording it is taken that all can be read.
func Readable(tr *trace.Trace, base string) (channels []int, ok bool) {
	if len(tr.Samples) == 0 {
		listed := *tr
		listed.Samples = make([][]trace.Sample, len(tr.Channels))
		for i := range listed.Samples {
			listed.Samples[i] = []trace.Sample{{}}
		}
		tr = &listed
	}
	gpus, _, _ := servers(&Options{Bases: []string{base}}, &Trial{Trace: tr})
	r := read(tr, base, gpus, false)
	return r.channels, r.why == ""
}

// Ends is the time at the mean power, in ns, by which the two ends of a window together
// may be off: half of the period at which the counter changes, as its energy is
// interpolated; of one that changes at every look a period for its lag besides. look is
// the time between two looks of the recording that is foreseen.
func Ends(period, look int64) int64 {
	if fastShare*float64(period) <= float64(look) {
		return 3 * max(period, look) / 2
	}
	return period / 2
}
