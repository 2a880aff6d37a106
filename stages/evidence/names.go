package evidence

import "fmt"

// Step names and output names, in one place so that a stage can name another
// stage's output without importing it.

// Output names.
const (
	OutPin         = "pin.json"             // PinDoc
	OutHardware    = "hardware.json"        // hardware.Doc
	OutStart       = "start.json"           // StartDoc; of a candidate that cupel starts
	OutPreflight   = "preflight.json"       // PreflightDoc
	OutResponses   = "responses.jsonl"      // ResponseRow a line, sorted by item, sample, repeat; no times in it
	OutTimings     = "timings.jsonl"        // TimingRow a line, same order
	OutKept        = "kept.json"            // Kept; only when rows of an earlier set were taken over
	OutCell        = "cell.jsonl"           // one CellHeader line, then LoadRow lines
	OutScrapes     = "server-metrics.jsonl" // ScrapeRow a line; empty when the engine has none
	OutTrace       = "energy.trace.jsonl"   // a meter's recording, beside an energy cell; see stages/trace
	OutMeter       = "meter.json"           // MeterDoc
	OutScores      = "scores.jsonl"         // ScoreRow a line, sorted by item
	OutSummary     = "summary.json"         // ScoreSummary
	OutMetrics     = "metrics.json"         // LoadMetrics
	OutImported    = "imported.json"        // the imported files as evidence records
	OutJudgements  = OutResponses           // a judge's replies, as any answers are kept
	OutCalibration = "calibration.json"     // judge.Calibration
	OutComparison  = "comparison.json"      // Comparison
	OutNoise       = "noise.json"           // NoiseFloor
	OutRecord      = "record.json"          // Record: the evidence, without the decision
	OutDecision    = "decision.json"        // Decision
	OutReadme      = "README.md"            // the finding's narrative
	OutReport      = "report.html"          // the finding's page
)

// PinStep names the step that observes a candidate.
func PinStep(candidate string) string { return "pin/" + candidate }

// MeterStep names the step that looks what can be read of the energy of a candidate.
func MeterStep(candidate string) string { return "preflight/" + candidate + "/meter" }

// PreflightStep names the step that checks a candidate before it is measured.
func PreflightStep(candidate string) string { return "preflight/" + candidate }

// GenerateStep names a generation; trial 2 is the noise floor's second run.
func GenerateStep(candidate, workload string, trial int) string {
	if trial > 1 {
		return fmt.Sprintf("measure/%s/%s/generate-%d", candidate, workload, trial)
	}
	return fmt.Sprintf("measure/%s/%s/generate", candidate, workload)
}

// JudgeStep names the judging of a generation's answers.
func JudgeStep(candidate, workload, judge string, trial int) string {
	if trial > 1 {
		return fmt.Sprintf("measure/%s/%s/judged-by-%s-%d", candidate, workload, judge, trial)
	}
	return fmt.Sprintf("measure/%s/%s/judged-by-%s", candidate, workload, judge)
}

// LabelsStep names the judging of a judge's labelled answers.
func LabelsStep(judge string) string { return "measure/" + judge + "/labels/judged" }

// CalibrationStep names the comparison of a judge's verdicts with the labels.
func CalibrationStep(judge string) string { return "score/" + judge + "/labels/calibration" }

// CellStep names one cell of a serving workload; cell is its label, such as
// c=4 or tokens=8192.
func CellStep(candidate, workload, cell string, trial int) string {
	return fmt.Sprintf("measure/%s/%s/%s-t%d", candidate, workload, cell, trial)
}

// ScoreStep names the scoring of a generation.
func ScoreStep(candidate, workload string, trial int) string {
	if trial > 1 {
		return fmt.Sprintf("score/%s/%s/scores-%d", candidate, workload, trial)
	}
	return fmt.Sprintf("score/%s/%s/scores", candidate, workload)
}

// MetricsStep names the step that derives metrics from a candidate's cells.
func MetricsStep(candidate, workload string) string {
	return fmt.Sprintf("score/%s/%s/metrics", candidate, workload)
}

// CompareStep names the comparison of a candidate with the baseline.
func CompareStep(candidate, workload string) string {
	return fmt.Sprintf("compare/%s/%s", candidate, workload)
}

// NoiseStep names the comparison of the baseline with itself.
func NoiseStep(noise string) string { return "compare/noise/" + noise }

// RecordStep, DecideStep and FindingStep are one per campaign.
const (
	RecordStep  = "publish/record"
	DecideStep  = "decide/guards"
	FindingStep = "publish/finding"
)
