package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/stats"
)

// Run compares a candidate with the baseline on one workload.
func Run(ctx context.Context, job step.Job) error {
	c, err := load(ctx, job)
	if err != nil {
		return err
	}
	doc := evidence.Comparison{
		Workload: c.params.Workload, Baseline: c.params.Baseline, Candidate: c.params.Candidate,
		Stats: c.stats, Attrition: c.attrition, Agreement: c.agreement,
		Flips: flips(c.a, c.b, c.params.Stratify),
	}
	if doc.Judged, err = c.judged(job); err != nil {
		return err
	}
	if err := readOne(job, inBaselineSummary, &doc.BaselineScores); err != nil {
		return err
	}
	if err := readOne(job, inCandidateSummary, &doc.CandidateScores); err != nil {
		return err
	}
	if doc.Noise, err = readNoise(job); err != nil {
		return err
	}
	return step.WriteJSON(job, evidence.OutComparison, doc)
}

// readNoise reads the noise floor, nil when the campaign has none or it was
// not measured.
func readNoise(job step.Job) (*evidence.NoiseFloor, error) {
	if _, declared := job.Step().Inputs[inNoise]; !declared {
		return nil, nil
	}
	noise := new(evidence.NoiseFloor)
	err := readOne(job, inNoise, noise)
	if errors.Is(err, step.ErrNoInput) {
		return nil, nil
	}
	return noise, err
}

// RunNoise compares a candidate's second run with its first.
func RunNoise(ctx context.Context, job step.Job) error {
	c, err := load(ctx, job)
	if err != nil {
		return err
	}
	iv := c.stats.Overall.Interval()
	return step.WriteJSON(job, evidence.OutNoise, evidence.NoiseFloor{
		Workload: c.params.Workload, Candidate: c.params.Candidate,
		Stats: c.stats, Agreement: c.agreement,
		Drift: iv.Defined && (iv.Lo > 0 || iv.Hi < 0),
		Note:  c.note(),
	})
}

// compared is what both kinds of steps need.
type compared struct {
	params    stepParams
	a, b      side
	stats     stats.Result
	attrition evidence.Attrition
	agreement evidence.TextAgreement
}

func load(ctx context.Context, job step.Job) (*compared, error) {
	c := &compared{a: side{}, b: side{}}
	if err := job.Params(&c.params); err != nil {
		return nil, err
	}
	policy, err := checkPolicy(c.params.Statistics.Missing)
	if err != nil {
		return nil, err
	}
	if err := readScores(job, inBaselineScores, c.a); err != nil {
		return nil, err
	}
	if err := readScores(job, inCandidateScores, c.b); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := pair(c.a, c.b, policy, worstBaseline(c.params))
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	c.attrition = p.attrition
	if c.stats, err = p.statistics(options(c.params.Statistics, c.params.Stratify)); err != nil {
		return nil, err
	}
	return c, c.compareTexts(job)
}

// worstBaseline is what a missing score of the baseline stands for under the
// policy zero: the worst case for a candidate, and for the baseline against
// itself the same as on the other side, so that an item that fails in both runs
// is no difference between them.
func worstBaseline(p stepParams) float64 {
	if p.Baseline == p.Candidate {
		return 0
	}
	return 1
}

func readScores(job step.Job, input string, into side) error {
	return withInput(job, input, func(r io.Reader) error { return items.ReadRows(evidence.OutScores, r, into.add) })
}

func (c *compared) compareTexts(job step.Job) error {
	return withInput(job, inBaselineResponses, func(a io.Reader) error {
		return withInput(job, inCandidateResponses, func(b io.Reader) (err error) {
			c.agreement, err = agreement(a, b)
			return err
		})
	})
}

// note says how the runs were made and how much of them could be paired.
func (c *compared) note() string {
	note := c.params.Note
	if c.attrition.Total == 0 {
		return note
	}
	if note != "" {
		note += "; "
	}
	return note + fmt.Sprintf("%d items have no score in one of the runs (policy %s)", c.attrition.Total, c.attrition.Policy)
}

func withInput(job step.Job, name string, f func(io.Reader) error) error {
	r, err := job.Open(name)
	if err != nil {
		return fmt.Errorf("compare: input %s: %w", name, err)
	}
	defer r.Close()
	return f(r)
}

// readOne reads an input that is one JSON document.
func readOne[T any](job step.Job, name string, into *T) error {
	return withInput(job, name, func(r io.Reader) error {
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, into); err != nil {
			return fmt.Errorf("compare: input %s: %w", name, err)
		}
		return nil
	})
}
