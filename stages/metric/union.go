package metric

import (
	"fmt"
	"math"
)

// ReplicaRun is one of several replicas that ran the same cell at one time.
type ReplicaRun struct {
	StartNS, FinishNS   *int64  // Unix nanoseconds, nil = not recorded
	StartSec, FinishSec int64   // the same moments in whole Unix seconds
	WallMS              float64 // by the replica's monotonic clock
	ClockDomain         string  // whose clock the moments are from, "" = not declared
	Tokens              int64   // output tokens
}

// The alignments and estimates of a Union.
const (
	AlignedExactly = "exact-explicit-common-clock-domain"
	AlignedBounded = "legacy-second-precision-bounded"
	EstimateExact  = "exact"
	EstimateLower  = "conservative-lower-bound"
)

// NewUnion derives the wall time from the first start to the last finish, and
// the throughput of the replicas together. With nanoseconds of one declared
// clock it is exact. With whole seconds it lies between bounds; the lower one
// of the throughput is the value. It refuses runs that contradict themselves or
// one another, and runs that did not overlap. Cell and Trial are for the caller
// to fill.
func NewUnion(runs []ReplicaRun) (Union, error) {
	if len(runs) < 2 {
		return Union{}, fmt.Errorf("union of %d replicas: it takes two or more", len(runs))
	}
	var u Union
	for i, r := range runs {
		if err := r.check(); err != nil {
			return Union{}, fmt.Errorf("replica %d: %w", i+1, err)
		}
		if u.Tokens > math.MaxInt64-r.Tokens {
			return Union{}, fmt.Errorf("replica %d: the sum of output tokens exceeds 2^63-1", i+1)
		}
		u.Tokens += r.Tokens
	}
	exact, err := commonClock(runs)
	if err == nil && exact {
		err = u.exactly(runs)
	} else if err == nil {
		err = u.bounded(runs)
	}
	if err != nil {
		return Union{}, err
	}
	u.TokS = Ratio(float64(u.Tokens), u.WallHighMS/1e3, unitTokS, ZeroDuration)
	u.TokSHigh = Ratio(float64(u.Tokens), u.WallLowMS/1e3, unitTokS, ZeroDuration)
	return u, nil
}

// check is what must hold of one replica alone.
func (r *ReplicaRun) check() error {
	switch {
	case !finite(r.WallMS) || r.WallMS <= 0:
		return fmt.Errorf("a wall of %v ms is not a duration", r.WallMS)
	case r.Tokens < 1:
		return fmt.Errorf("%d output tokens: every row must have some", r.Tokens)
	case r.FinishSec < r.StartSec:
		return fmt.Errorf("it finished at %d s, before its start at %d s", r.FinishSec, r.StartSec)
	case (r.StartNS == nil) != (r.FinishNS == nil):
		return fmt.Errorf("only one of start and finish has nanoseconds")
	case r.StartNS == nil:
		return nil
	}
	for _, at := range []struct {
		what    string
		ns, sec int64
	}{{"start", *r.StartNS, r.StartSec}, {"finish", *r.FinishNS, r.FinishSec}} {
		if floorSec(at.ns) != at.sec {
			return fmt.Errorf("its %s of %d ns is not in the second %d", at.what, at.ns, at.sec)
		}
	}
	span := float64(*r.FinishNS-*r.StartNS) / 1e6
	if math.Abs(span-r.WallMS) > max(5, r.WallMS*1e-4) {
		return fmt.Errorf("a wall of %v ms does not reconcile with the %v ms between start and finish", r.WallMS, span)
	}
	return nil
}

func floorSec(ns int64) int64 {
	s := ns / 1e9
	if ns%1e9 < 0 {
		s--
	}
	return s
}

// commonClock reports whether all moments are nanoseconds of one declared
// clock. Those of two different clocks cannot be compared at all.
func commonClock(runs []ReplicaRun) (bool, error) {
	exact, domain := true, ""
	for i, r := range runs {
		if r.ClockDomain != "" && domain != "" && r.ClockDomain != domain {
			return false, fmt.Errorf("replica %d: its clock %q is not %q, so their times cannot be compared", i+1, r.ClockDomain, domain)
		}
		if r.ClockDomain != "" {
			domain = r.ClockDomain
		}
		exact = exact && r.StartNS != nil && r.ClockDomain != ""
	}
	return exact, nil
}

func (u *Union) exactly(runs []ReplicaRun) error {
	first, last := *runs[0].StartNS, *runs[0].FinishNS
	lastStart, firstFinish := first, last
	for _, r := range runs[1:] {
		first, lastStart = min(first, *r.StartNS), max(lastStart, *r.StartNS)
		last, firstFinish = max(last, *r.FinishNS), min(firstFinish, *r.FinishNS)
	}
	if lastStart >= firstFinish {
		return fmt.Errorf("the replicas did not all run at one moment: one started %v ms after another had finished", float64(lastStart-firstFinish)/1e6)
	}
	u.Alignment, u.Estimate = AlignedExactly, EstimateExact
	u.WallLowMS = float64(last-first) / 1e6
	u.WallHighMS = u.WallLowMS
	return nil
}

// bounded takes each start to lie anywhere in its second, as far as the finish
// and the wall leave it room: late is how far after the second's begin.
func (u *Union) bounded(runs []ReplicaRun) error {
	type room struct{ early, late float64 } // ms
	rooms := make([]room, len(runs))
	for i, r := range runs {
		if r.StartSec != runs[0].StartSec || r.FinishSec != runs[0].FinishSec {
			return fmt.Errorf("replica %d: without nanoseconds of one clock, all must start in one second and finish in one", i+1)
		}
		span := float64(r.FinishSec-r.StartSec) * 1e3
		rooms[i] = room{max(0, span-r.WallMS), min(1e3, span+1e3-r.WallMS)}
		if rooms[i].late < rooms[i].early {
			return fmt.Errorf("replica %d: a wall of %v ms does not fit between the seconds %d and %d", i+1, r.WallMS, r.StartSec, r.FinishSec)
		}
		u.WallLowMS = max(u.WallLowMS, r.WallMS)
	}
	u.WallHighMS = u.WallLowMS
	for i, a := range rooms {
		for j, b := range rooms {
			if i != j {
				u.WallHighMS = max(u.WallHighMS, a.late+runs[i].WallMS-b.early)
			}
		}
	}
	u.Alignment, u.Estimate = AlignedBounded, EstimateLower
	return nil
}
