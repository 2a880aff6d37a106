package pin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-dev/cupel/engine/spec"
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/hardware"
)

// observeHardware adds what the endpoint runs on to its pin. What identifies it
// goes into the document, and so into the key of every measurement; which devices
// they are is an output of its own, which only the record reads.
func observeHardware(ctx context.Context, ep Identifier, doc *evidence.PinDoc) (hardware.Seen, error) {
	seen, err := ep.Hardware(ctx)
	if err != nil {
		return seen, fmt.Errorf("hardware: %w", err)
	}
	doc.Hardware = seen.Identity
	doc.Fields = append(doc.Fields, hardwareFields(doc.Declared.Hardware, seen)...)
	return seen, nil
}

// writeHardware writes what is shown of the hardware, and says what is doubtful.
func writeHardware(job step.Job, seen hardware.Seen) error {
	for _, w := range seen.Warnings {
		job.Note("%s", w)
	}
	return step.WriteJSON(job, evidence.OutHardware, seen.Shown)
}

// recheckHardware looks again at hardware that is in the key of what was
// measured. A driver that was exchanged, or a power limit that was set meanwhile,
// is a drift.
func recheckHardware(ctx context.Context, ep Identifier, doc evidence.PinDoc) error {
	if doc.Hardware == nil {
		return nil
	}
	seen, err := ep.Hardware(ctx)
	if err != nil {
		return fmt.Errorf("hardware again: %w", err)
	}
	if seen.Identity == nil {
		return step.Mark(step.ErrOutside, fmt.Errorf("hardware again: %w", errors.New(why(seen))))
	}
	then := hardwareTexts(hardwareFields(doc.Declared.Hardware, hardware.Seen{Identity: doc.Hardware, Shown: seen.Shown}))
	now := hardwareTexts(hardwareFields(doc.Declared.Hardware, seen))
	before, after := identityDigest(*doc.Hardware), identityDigest(*seen.Identity)
	if before == after {
		return lostUUIDs(doc, seen)
	}
	if d := difference(then, now); d != nothing {
		return &step.Drift{Before: d, After: difference(now, then)}
	}
	return &step.Drift{Before: "hardware " + before, After: "hardware " + after}
}

// lostUUIDs is a drift when the very GPUs that the campaign names are no longer
// there.
func lostUUIDs(doc evidence.PinDoc, seen hardware.Seen) error {
	for _, f := range hardwareFields(doc.Declared.Hardware, seen) {
		if f.State == differs {
			return &step.Drift{Before: f.Name + " " + f.Declared, After: f.Name + " " + f.Observed}
		}
	}
	return nil
}

func why(seen hardware.Seen) string {
	if seen.Shown.Unknown == nil {
		return "nothing of it is known now"
	}
	return seen.Shown.Unknown.String()
}

func identityDigest(id hardware.Identity) string {
	d, err := id.Digest()
	if err != nil {
		panic("pin: a hardware identity is plain data: " + err.Error())
	}
	return d.String()
}

func hardwareTexts(fields []evidence.PinField) map[string]string {
	out := map[string]string{}
	for _, f := range fields {
		out[f.Name] = f.Observed
	}
	return out
}

// hardwareFields holds declared and observed hardware side by side. The rows of
// GPUs are there when GPUs were declared or seen: what is not known of a machine is
// said by the record, since the reason would differ from machine to machine and
// with it every key.
func hardwareFields(want *spec.Hardware, seen hardware.Seen) []evidence.PinField {
	w, id := spec.Hardware{}, hardware.Identity{}
	if want != nil {
		w = *want
	}
	if seen.Identity != nil {
		id = *seen.Identity
	}
	fields := []evidence.PinField{
		field("hardware.gpu", w.GPU, each(id, func(c hardware.Class) string { return c.Name }), sameGPU),
		field("hardware.count", tokens(w.Count), tokens(id.Count()), exact),
		field("hardware.memory", w.Memory, each(id, memory), sameMemory),
		field("hardware.architecture", "", each(id, func(c hardware.Class) string { return strings.TrimSpace(c.Architecture + " " + c.Compute) }), exact),
		field("hardware.driver", w.Driver, id.Driver, beginning),
		field("hardware.cuda", w.CUDA, id.CUDA, beginning),
		field("hardware.powerLimit", w.PowerLimit, each(id, power), samePower),
		field("hardware.mig", w.MIG, each(id, func(c hardware.Class) string { return c.MIG }), exact),
		field("hardware.ecc", "", each(id, func(c hardware.Class) string { return c.ECC }), exact),
	}
	if len(id.GPUs) == 0 {
		fields = slices.DeleteFunc(fields, func(f evidence.PinField) bool { return f.State == unknown })
	}
	if f := field("hardware.cpu", w.CPU, processors(id), sameCPU); f.State != unknown {
		fields = append(fields, f)
	}
	if len(w.UUIDs) > 0 {
		fields = append(fields, uuids(w.UUIDs, seen.Shown.Report))
	}
	return fields
}

// each joins what the classes of GPUs say, once each: "NVIDIA H100 + NVIDIA H200".
func each(id hardware.Identity, say func(hardware.Class) string) string {
	var out []string
	for _, c := range id.GPUs {
		if s := say(c); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, " + ")
}

func memory(c hardware.Class) string {
	if c.MemoryMiB == 0 {
		return ""
	}
	return strconv.FormatUint(c.MemoryMiB, 10) + " MiB"
}

func power(c hardware.Class) string {
	if c.PowerLimitMW == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(c.PowerLimitMW)/1000, 'f', -1, 64) + " W"
}

func processors(id hardware.Identity) string {
	if id.CPU == "" || id.Cores == 0 {
		return id.CPU
	}
	return fmt.Sprintf("%s, %d cores", id.CPU, id.Cores)
}

// sameGPU ignores the maker's name before it, as some tools leave it out.
func sameGPU(want, got string) bool {
	return loose(strings.TrimPrefix(want, "NVIDIA "), strings.TrimPrefix(got, "NVIDIA "))
}

// marks are what makers write into a model and nobody types.
var marks = strings.NewReplacer("(R)", "", "(TM)", "", "(r)", "", "(tm)", "")

func sameCPU(want, got string) bool {
	want, got = marks.Replace(want), marks.Replace(got)
	model, _, _ := strings.Cut(got, ", ")
	return loose(want, got) || loose(want, model)
}

// sameMemory takes 140GiB for 143771 MiB: as exactly as it was written.
func sameMemory(want, got string) bool {
	mib, err := strconv.ParseFloat(strings.TrimSuffix(got, " MiB"), 64)
	if err != nil {
		return false // GPUs of several sizes
	}
	if n, ok := strings.CutSuffix(want, "GiB"); ok {
		return rounded(n, mib/1024)
	}
	return rounded(strings.TrimSuffix(want, "MiB"), mib)
}

func samePower(want, got string) bool {
	w, err := strconv.ParseFloat(strings.TrimSuffix(got, " W"), 64)
	return err == nil && rounded(strings.TrimSuffix(want, "W"), w)
}

// rounded reports whether x is the number written, to its own last digit.
func rounded(written string, x float64) bool {
	n, err := strconv.ParseFloat(written, 64)
	if err != nil {
		return false
	}
	_, decimals, _ := strings.Cut(written, ".")
	scale := math.Pow10(len(decimals))
	return math.Round(x*scale) == math.Round(n*scale)
}

// beginning takes 570 for 570.86.10, and 570.8 not for it.
func beginning(want, got string) bool {
	return got == want || strings.HasPrefix(got, want+".")
}

// uuids compares sets. Only a campaign that names the very devices has them in
// its pins.
func uuids(want []string, r *hardware.Report) evidence.PinField {
	sorted := slices.Sorted(slices.Values(want))
	return field("hardware.uuids", strings.Join(slices.Compact(sorted), " "), strings.Join(r.UUIDs(), " "), exact)
}
