package stats

import (
	"encoding/json"
	"fmt"
)

// Method names of intervals.
const (
	MethodBootstrap        = "bootstrap"
	MethodTango            = "tango"
	MethodTangoClustered   = "tango-clustered"
	MethodT                = "t"
	MethodTBounded         = "t-bounded"
	MethodZ                = "z"
	MethodBCa              = "bca"
	MethodClustered        = "clustered"
	MethodClusteredBounded = "clustered-bounded"
	MethodClusterBootstrap = "cluster-bootstrap"
	MethodWilson           = "wilson"
	MethodClopperPearson   = "clopper-pearson"
	MethodNewcombe         = "newcombe-10"
)

// Interval is a confidence interval, or the reason why there is none. Lo and
// Hi mean nothing unless Defined.
type Interval struct {
	Lo, Hi  float64
	Method  string
	Defined bool
	Reason  Reason
}

func defined(method string, lo, hi float64) Interval {
	return Interval{Lo: lo, Hi: hi, Method: method, Defined: true}
}

func undefined(method string, why Reason) Interval {
	return Interval{Method: method, Reason: why}
}

// Bounds returns pointers to the limits, nil when the interval is undefined.
func (iv Interval) Bounds() (lo, hi *float64) {
	if !iv.Defined {
		return nil, nil
	}
	return &iv.Lo, &iv.Hi
}

// Widen moves both limits outwards by missing/total: the worst case when that
// many of the items have no score on one side. All other things stay.
func (iv Interval) Widen(missing, total int) Interval {
	if !iv.Defined || total <= 0 {
		return iv
	}
	by := float64(missing) / float64(total)
	iv.Lo -= by
	iv.Hi += by
	return iv
}

type intervalJSON struct {
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	Method string   `json:"method"`
	Reason Reason   `json:"reason,omitempty"`
}

// MarshalJSON writes null limits and a reason for an undefined interval.
func (iv Interval) MarshalJSON() ([]byte, error) {
	lo, hi := iv.Bounds()
	return json.Marshal(intervalJSON{lo, hi, iv.Method, iv.Reason})
}

// UnmarshalJSON reads what MarshalJSON writes; one null limit of two is an
// error.
func (iv *Interval) UnmarshalJSON(b []byte) error {
	var j intervalJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("interval: %w", err)
	}
	if (j.Lo == nil) != (j.Hi == nil) {
		return fmt.Errorf("interval %q: one limit is null and the other is not", j.Method)
	}
	*iv = Interval{Method: j.Method, Reason: j.Reason, Defined: j.Lo != nil}
	if iv.Defined {
		iv.Lo, iv.Hi = *j.Lo, *j.Hi
	}
	return nil
}

func badConfidence(confidence float64) bool { return !(confidence > 0 && confidence < 1) }
