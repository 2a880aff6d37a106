package publish

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/evidence"
)

// FindingRunner renders record and decision for people: README.md and
// report.html. It is pure: the bytes depend on the two documents alone.
type FindingRunner struct{}

// Run implements step.Runner.
func (FindingRunner) Run(_ context.Context, job step.Job) error {
	var rec evidence.Record
	if err := readJSON(job, inRecord, &rec); err != nil {
		return fmt.Errorf("finding: record: %w", err)
	}
	var dec evidence.Decision
	if err := readJSON(job, inDecision, &dec); err != nil {
		return fmt.Errorf("finding: decision: %w", err)
	}
	readme, report, err := render(&rec, &dec)
	if err != nil {
		return fmt.Errorf("finding: %w", err)
	}
	if err := step.Write(job, evidence.OutReadme, "text/markdown", readme); err != nil {
		return err
	}
	return step.Write(job, evidence.OutReport, "text/html", report)
}

func render(rec *evidence.Record, dec *evidence.Decision) (readme, report []byte, err error) {
	p := newPage(rec, dec)
	var md, html bytes.Buffer
	if err := readmeTemplate.Execute(&md, p); err != nil {
		return nil, nil, err
	}
	if err := reportTemplate.Execute(&html, p); err != nil {
		return nil, nil, err
	}
	return md.Bytes(), html.Bytes(), nil
}
