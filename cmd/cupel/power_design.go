package main

import (
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/cupel-dev/cupel/stages/metric"
	"github.com/cupel-dev/cupel/stages/stats"
)

// Methods of computing a sample size; see the help text of cupel power.
const (
	methodNormal = "normal"
	methodExact  = "exact"
	methodGate   = "gate"
)

var powerMethods = []string{methodNormal, methodExact, methodGate}

// mostItems bounds what the exact methods are asked for: beyond it they take
// minutes and agree with the formula.
const mostItems = 200_000

// powerDesign is one guard lo > -margin and what is believed of its candidate.
type powerDesign struct {
	margin, truth     float64
	disagree          float64
	variance          float64 // of one difference; disagree for independent 0/1 scores
	confidence, power float64
}

func (d powerDesign) alpha() float64 { return (1 - d.confidence) / 2 }

// binary is that the scores are independent 0/1 scores, as far as is known.
func (d powerDesign) binary() bool { return d.variance == d.disagree }

// size is the number of items needed, or why there is none.
func (d powerDesign) size(method string) (items int, why string) {
	size, err := stats.SizeNonInferior(d.variance, d.margin, d.truth, d.alpha(), d.power)
	switch {
	case err != nil:
		return 0, "on-or-below-the-limit"
	case size.Items > stats.MaxItems:
		return 0, "too-many-items"
	case method == methodNormal && d.truth <= 0:
		return max(size.Items, stats.FewestItems(d.margin, d.confidence)), ""
	case method == methodNormal:
		return size.Items, ""
	case !d.binary():
		return 0, "not-independent-binary"
	case size.Items > mostItems:
		return 0, "too-many-items"
	case method == methodExact && d.distance() > d.disagree, math.Abs(d.truth) > d.disagree:
		return 0, "more-than-disagreement"
	}
	var ok bool
	if method == methodExact {
		items, ok, err = d.mcnemar().SizeMcNemar()
	} else {
		items, ok, err = stats.GateSize(d.disagree, d.truth, d.margin, d.confidence, d.power)
	}
	if err != nil || !ok {
		return 0, "too-many-items"
	}
	return items, ""
}

// distance is from the limit to the true difference. 0.1 and 0.2 add up to a
// little more than 0.3, which is no larger difference than 0.3 disagreement.
func (d powerDesign) distance() float64 {
	sum := d.margin + d.truth
	if sum > d.disagree && sum < d.disagree*(1+1e-12) {
		return d.disagree
	}
	return sum
}

// mcnemar tests for a difference as large as the distance from the limit.
func (d powerDesign) mcnemar() stats.Design {
	return stats.Design{Disagree: d.disagree, Delta: d.distance(), Alpha: 1 - d.confidence, Power: d.power}
}

// at is the power with n items, nil when the method does not apply.
func (d powerDesign) at(method string, n int) *float64 {
	var p float64
	var err error
	switch {
	case method == methodNormal:
		p = stats.PowerNonInferior(d.variance, d.margin, d.truth, d.alpha(), n)
	case !d.binary() || n > mostItems || n < 1:
		return nil
	case method == methodExact:
		p, err = d.mcnemar().PowerExact(n)
	default:
		p, err = stats.GatePower(n, d.disagree, d.truth, d.margin, d.confidence)
	}
	if err != nil {
		return nil
	}
	return &p
}

func (d powerDesign) mde(n int) float64 {
	return stats.MDE(math.Sqrt(d.variance), n, 1-d.confidence, d.power)
}

// designAnswer is the JSON form of a design without a campaign.
type designAnswer struct {
	Margin         float64       `json:"margin"`
	Disagreement   float64       `json:"disagreement"`
	TrueDifference float64       `json:"true_difference"`
	Power          float64       `json:"power"`
	Confidence     float64       `json:"confidence"`
	Strata         int           `json:"strata"`
	Needed         []neededItems `json:"needed"`
	At             []powerAt     `json:"at"`
}

// neededItems is for one method. Items is for one set at the power asked for;
// JointPower is what all strata together then have, and ItemsTogether how many
// each needs so that together they have the power asked for.
type neededItems struct {
	Method        string  `json:"method"`
	Items         *int    `json:"items"`
	Reason        string  `json:"reason,omitempty"`
	JointPower    float64 `json:"joint_power"`
	ItemsTogether *int    `json:"items_each_together"`
}

// powerAt is what n items can see.
type powerAt struct {
	Items  int      `json:"items"`
	MDE    float64  `json:"mde"`
	Normal *float64 `json:"power_normal"`
	Exact  *float64 `json:"power_exact"`
	Gate   *float64 `json:"power_gate"`
}

func (a *app) designPower(o powerOptions) error {
	if !(o.margin+o.truth > 0) {
		return fail(exitUsage, fmt.Errorf("a candidate with a true difference of %v is at or below the limit of -%v, so it should not pass with any number of items", o.truth, o.margin))
	}
	d := powerDesign{o.margin, o.truth, o.disagreement, o.disagreement, o.confidence, o.power}
	ans := designAnswer{Margin: o.margin, Disagreement: o.disagreement, TrueDifference: o.truth, Power: o.power, Confidence: o.confidence, Strata: o.strata}
	for _, method := range powerMethods {
		ans.Needed = append(ans.Needed, d.needed(method, o.strata))
	}
	items := o.items
	if items == nil {
		items = []int{500, 1000, 2000, 5000}
	}
	for _, n := range items {
		ans.At = append(ans.At, powerAt{n, d.mde(n), d.at(methodNormal, n), d.at(methodExact, n), d.at(methodGate, n)})
	}
	if a.json {
		return a.printJSON(ans)
	}
	a.printDesign(ans)
	return nil
}

func (d powerDesign) needed(method string, strata int) neededItems {
	n := neededItems{Method: method, JointPower: math.Pow(d.power, float64(strata))}
	items, why := d.size(method)
	if n.Reason = why; why == "" {
		n.Items = &items
	}
	d.power = math.Pow(d.power, 1/float64(strata))
	if items, why := d.size(method); why == "" {
		n.ItemsTogether = &items
	}
	return n
}

func (a *app) printDesign(ans designAnswer) {
	a.printf("to pass `lo > -%v`: disagreement %.4g %%, true difference %v, power %.4g %%, confidence %.4g %%\n\n",
		ans.Margin, 100*ans.Disagreement, ans.TrueDifference, 100*ans.Power, 100*ans.Confidence)
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	head := "method\titems needed"
	if ans.Strata > 1 {
		head += fmt.Sprintf("\tall %d strata pass\titems in each, to pass together", ans.Strata)
	}
	fmt.Fprintln(w, head)
	for _, n := range ans.Needed {
		row := n.Method + "\t" + itemsOr(n.Items, n.Reason)
		if ans.Strata > 1 {
			row += fmt.Sprintf("\t%.1f %%\t%s", 100*n.JointPower, itemsOr(n.ItemsTogether, n.Reason))
		}
		fmt.Fprintln(w, row)
	}
	w.Flush()
	a.printf("\n")
	fmt.Fprintln(w, "items\tMDE\tpower: normal\texact\tgate")
	for _, p := range ans.At {
		fmt.Fprintf(w, "%s\t%.2f points\t%s\t%s\t%s\n", metric.Thousands(p.Items), 100*p.MDE, chanceOf(p.Normal), chanceOf(p.Exact), chanceOf(p.Gate))
	}
	w.Flush()
}

func itemsOr(n *int, why string) string {
	if n == nil {
		return "- (" + why + ")"
	}
	return metric.Thousands(*n)
}

func chanceOf(p *float64) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100**p)
}
