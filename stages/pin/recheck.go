package pin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/llm"
)

// Input is the name under which measuring steps take the pin document.
const Input = "pin"

// Read reads a job's pin document.
func Read(job step.Known) (evidence.PinDoc, error) { return ReadFrom(job, Input) }

// ReadFrom reads the pin document of another endpoint.
func ReadFrom(job step.Known, input string) (doc evidence.PinDoc, err error) {
	r, err := job.Open(input)
	if err != nil {
		return doc, fmt.Errorf("pin document: %w", err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return doc, fmt.Errorf("pin document: %w", err)
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return doc, fmt.Errorf("pin document: %w", err)
	}
	return doc, nil
}

// Recheck observes again and returns a *step.Drift when the identity is not
// the one in doc. An identity that cannot be read is an error too: a result
// that nothing vouches for is not stored.
func Recheck(ctx context.Context, ep Identifier, doc evidence.PinDoc) error {
	now, err := ep.Identity(ctx)
	if err != nil {
		return fmt.Errorf("identity again: %w", err)
	}
	before, after := facts(doc.Observed), facts(now)
	if maps.Equal(before, after) {
		if err := recount(ctx, ep, doc); err != nil {
			return err
		}
		return recheckHardware(ctx, ep, doc)
	}
	return &step.Drift{Before: difference(before, after), After: difference(after, before)}
}

// recount probes again: a restart with another engine behind the same address
// need not change what the endpoint says of itself, unless it tells a digest of
// its tokenizer. What cannot be had now, or could not be had before, is no drift.
func recount(ctx context.Context, ep Identifier, doc evidence.PinDoc) error {
	before := doc.Probe
	if doc.Observed.TokenizerSHA256 != "" {
		before.Tokens = 0 // the digest vouches for them
	}
	if before.Tokens == 0 && before.Template == "" && before.Context == 0 {
		return nil
	}
	now, err := ep.Probe(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return nil
	case before.Tokens != 0 && now.Tokens != 0 && now.By == before.By && counts(now) != counts(before):
		return &step.Drift{Before: counts(before), After: counts(now)}
	case before.Template != "" && now.Template != "" && now.Template != before.Template:
		return &step.Drift{Before: "template.probe " + before.Template, After: "template.probe " + now.Template}
	case before.Context != 0 && now.Context != 0 && now.Context != before.Context:
		return &step.Drift{Before: fmt.Sprintf("a context of %d tokens", before.Context), After: fmt.Sprintf("a context of %d tokens", now.Context)}
	}
	return nil
}

func counts(p llm.TokenProbe) string {
	return fmt.Sprintf("%d and %d tokens of the probe texts", p.Tokens, p.Twice)
}

// facts flattens an identity through its JSON form, so that exactly what the
// pin document holds is compared and a new field cannot be forgotten.
func facts(id llm.Identity) map[string]string {
	b, err := json.Marshal(id)
	if err != nil {
		panic("pin: an identity is plain data: " + err.Error())
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		panic("pin: an identity is an object: " + err.Error())
	}
	out := make(map[string]string, len(fields))
	for name, v := range fields {
		out[name] = string(v)
	}
	return out
}

// difference says what a holds that b does not hold alike.
func difference(a, b map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if b[name] != a[name] {
			parts = append(parts, name+" "+a[name])
		}
	}
	if parts == nil {
		return nothing
	}
	return strings.Join(parts, ", ")
}

const nothing = "nothing of it"
