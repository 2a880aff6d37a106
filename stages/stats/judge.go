package stats

import (
	"fmt"
	"math"
)

// Judge holds the calibration of a 0/1 judge against human labels and the
// estimates corrected by it.
type Judge struct {
	Agreement float64
	// Kappa is nil when chance alone would agree always; Sensitivity and
	// Specificity are nil without labels of their class.
	Kappa, Sensitivity, Specificity *float64
	// RoganGladen inverts the judge's error rates; nil with a reason when the
	// judge is no better than chance or one class has no labels.
	RoganGladen *Estimate
	Reason      Reason
	Powered
}

// Powered holds the mean of scores that a judge gave to unlabelled items,
// corrected by labelled ones: PPI is prediction-powered inference
// (A. Angelopoulos et al., Science 2023); PPIPlus weighs the judge by Lambda
// in [0, 1] (PPI++, 2023).
type Powered struct {
	Naive     float64  `json:"naive"` // mean judgement of the unlabelled items
	PPI       Estimate `json:"ppi"`
	PPIPlus   Estimate `json:"ppi_plus"`
	HumanOnly Estimate `json:"human_only"`
	Lambda    float64  `json:"lambda"`
}

// Estimate is a value with its standard error.
type Estimate struct {
	Value float64 `json:"value"`
	SE    float64 `json:"se"`
}

// Interval is value -+ z SE.
func (e Estimate) Interval(confidence float64) Interval {
	return Paired{N: 2, Mean: e.Value, SE: e.SE}.Z(confidence)
}

// CalibrateJudge needs at least 2 labelled and 2 unlabelled items, all 0 or 1;
// human[i] and judged[i] belong to the same item.
func CalibrateJudge(human, judged, unlabelled []float64) (Judge, error) {
	if err := sameLength("judge calibration", len(human), len(judged)); err != nil {
		return Judge{}, err
	}
	if len(human) < 2 || len(unlabelled) < 2 {
		return Judge{}, fmt.Errorf("judge calibration: %d labelled and %d unlabelled items; at least 2 of each are needed", len(human), len(unlabelled))
	}
	if !binary(human) || !binary(judged) || !binary(unlabelled) {
		return Judge{}, fmt.Errorf("judge calibration: a label or judgement is neither 0 nor 1")
	}
	var j Judge
	j.Powered = powered(human, judged, unlabelled)
	j.agree(human, judged, float64(len(unlabelled)))
	return j, nil
}

// PredictionPowered needs at least 2 labelled and 2 unlabelled items, all
// finite; human[i] and judged[i] belong to the same item.
func PredictionPowered(human, judged, unlabelled []float64) (Powered, error) {
	if err := sameLength("prediction-powered mean", len(human), len(judged)); err != nil {
		return Powered{}, err
	}
	if len(human) < 2 || len(unlabelled) < 2 {
		return Powered{}, fmt.Errorf("prediction-powered mean: %d labelled and %d unlabelled items; at least 2 of each are needed", len(human), len(unlabelled))
	}
	for _, list := range [][]float64{human, judged, unlabelled} {
		for _, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Powered{}, fmt.Errorf("prediction-powered mean: a score is %v", v)
			}
		}
	}
	return powered(human, judged, unlabelled), nil
}

func (j *Judge) agree(human, judged []float64, unlabelled float64) {
	var n [2][2]float64 // [human][judge]
	for i := range human {
		n[int(human[i])][int(judged[i])]++
	}
	total := float64(len(human))
	neg, pos := n[0][0]+n[0][1], n[1][0]+n[1][1]
	j.Agreement = (n[0][0] + n[1][1]) / total
	chance := (float64(neg*(n[0][0]+n[1][0])) + float64(pos*(n[0][1]+n[1][1]))) / (total * total)
	if chance < 1 {
		kappa := (j.Agreement - chance) / (1 - chance)
		j.Kappa = &kappa
	}
	j.Sensitivity, j.Specificity = ratio(n[1][1], pos), ratio(n[0][0], neg)
	j.roganGladen(unlabelled, neg, pos)
}

// ratio is nil when its denominator is 0.
func ratio(x, of float64) *float64 {
	if of == 0 {
		return nil
	}
	r := x / of
	return &r
}

// roganGladen corrects the naive mean (W. Rogan, B. Gladen, 1978) with the
// delta-method variance.
func (j *Judge) roganGladen(n, neg, pos float64) {
	if pos == 0 || neg == 0 || *j.Sensitivity+*j.Specificity <= 1 {
		j.Reason = ReasonNoInformation
		return
	}
	p, q0, q1 := j.Naive, *j.Specificity, *j.Sensitivity
	youden := q0 + q1 - 1
	theta := (p + q0 - 1) / youden
	variance := p*(1-p)/n + (1-theta)*(1-theta)*q0*(1-q0)/neg + theta*theta*q1*(1-q1)/pos
	j.RoganGladen = &Estimate{theta, math.Sqrt(variance) / youden}
}

func powered(human, judged, unlabelled []float64) (j Powered) {
	j.Naive = Mean(unlabelled)
	n, m := float64(len(human)), float64(len(unlabelled))
	varUnlabelled := covariance(unlabelled, unlabelled)
	at := func(lambda float64) Estimate {
		rest := make([]float64, len(human))
		for i := range rest {
			rest[i] = human[i] - float64(lambda*judged[i])
		}
		value := float64(lambda*j.Naive) + Mean(rest)
		return Estimate{value, math.Sqrt(float64(lambda*lambda*varUnlabelled)/m + covariance(rest, rest)/n)}
	}
	j.HumanOnly, j.PPI = at(0), at(1)
	all := append(append([]float64{}, judged...), unlabelled...)
	if v := covariance(all, all); v > 0 {
		j.Lambda = min(1, max(0, covariance(human, judged)/((1+n/m)*v)))
	}
	j.PPIPlus = at(j.Lambda)
	return j
}

// CorrectedDelta is the mean of b - a over paired items, corrected by labels of
// either side's answers: each side's judge is as wrong as its own labels say.
// The labelled answers are taken as independent of one another and of the items,
// so the standard error is that of three independent means. It needs at least 2
// of each, in pairs; nil otherwise.
func CorrectedDelta(a, b, humanA, judgedA, humanB, judgedB []float64) *Estimate {
	if len(a) < 2 || len(a) != len(b) || len(humanA) < 2 || len(humanA) != len(judgedA) || len(humanB) < 2 || len(humanB) != len(judgedB) {
		return nil
	}
	delta, errA, errB := PairedMean(differences(a, b)), PairedMean(differences(judgedA, humanA)), PairedMean(differences(judgedB, humanB))
	return &Estimate{
		Value: delta.Mean + errB.Mean - errA.Mean,
		SE:    math.Sqrt(float64(delta.SE*delta.SE) + float64(errA.SE*errA.SE) + float64(errB.SE*errB.SE)),
	}
}
