package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/evidence"
)

// A value that is not there has no unit, and a note that is alone no comma.
func TestPrintClaims(t *testing.T) {
	x, d := 12.0, 20.0
	var out bytes.Buffer
	a := &app{stdout: &out}
	a.printClaims(&evidence.Research{Sources: []evidence.ResearchSource{{ID: "card", Claims: []evidence.Prior{{
		Candidate: "q8", Metric: "ttft_ms", Value: 10, Unit: "m\x1bs",
		Measured: []evidence.ClaimMeasured{
			{Metric: "context.advertised", Unit: "tokens", Reason: "not-measured"},
			{Metric: "ttft_ms.p50", Workload: "load", Cell: "c=1", Unit: "ms", Value: &x, DeltaPct: &d, Doubt: "client-bound"},
			{Metric: "ttft_ms.p50", Workload: "load", Cell: "c=4", Unit: "ms", Value: &x, Reason: "other-unit", Doubt: "client-bound"},
			{Metric: "ttft_ms.p50", Workload: "load", Cell: "c=8", Unit: "ms", Value: &x, DeltaPct: &d},
		},
	}}}}})
	want := []string{
		"",
		"claim               candidate  source  claimed      at        measured  delta    note",
		"context.advertised  q8         card    10 m\\u001bs  pin       -         -        not-measured",
		"ttft_ms.p50         q8         card    10 m\\u001bs  load c=1  12 ms     +20.0 %  client-bound",
		"ttft_ms.p50         q8         card    10 m\\u001bs  load c=4  12 ms     -        other-unit, client-bound",
		"ttft_ms.p50         q8         card    10 m\\u001bs  load c=8  12 ms     +20.0 %  ",
		"",
	}
	if got := strings.Split(out.String(), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}
