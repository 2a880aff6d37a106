package metric

// The reason codes: why a value is null.
const (
	NoRequests       = "no-requests"
	NoOutput         = "no-output"
	NoVisibleOutput  = "no-visible-output"
	NotComplete      = "not-complete"
	InconsistentTime = "inconsistent-clock"
	ContractFailed   = "contract-failed"
	RequestFailed    = "request-failed"
	NoUsage          = "no-usage"
	NotReported      = "not-reported"
	NoPrefillTime    = "no-isolated-prefill"
	TooShort         = "too-short"
	CoarseChunks     = "coarse-chunks"
	NoEventStamps    = "no-event-stamps"
	NoWriteStamp     = "no-write-stamp"
	NoFirstTokens    = "no-first-chunk-tokens"
	ZeroDuration     = "zero-duration"
	IncompleteCell   = "incomplete-cell"
	NoCPUTime        = "no-cpu-time"
	OneRun           = "one-run"
	ZeroMean         = "zero-mean"
	NotFinite        = "not-finite"
	NoAnswers        = "no-answers"
	Unscored         = "unscored"
	NotStreamed      = "not-streamed"
	ReasoningOutput  = "reasoning-output"
	HiddenReasoning  = "hidden-reasoning"
	NoSteadyWindow   = "no-steady-window"
	FewCompletions   = "few-completions"
	BelowMean        = "below-mean"
	TooBrief         = "too-brief"
	ClosedLoop       = "closed-loop"
	OpenLoop         = "open-loop"
	NoSLO            = "no-slo"
	Unaccounted      = "unaccounted"
	NoSelfCheck      = "no-self-check"
	NotCounted       = "not-counted"
	NoServerMetrics  = "no-server-metrics"
	NotChecked       = "not-checked"
	NoLengthAsked    = "no-length-asked"
	OtherWorkload    = "other-workload"
	BaselineFailed   = "baseline-failed"
	NoneDegraded     = "none-degraded"
	TooFewToCertify  = "too-few-to-certify"

	// Of what a generation cost.
	NoPrice        = "no-price"
	NoGPUCount     = "no-gpu-count"
	NoCorrectItems = "no-correct-items"

	// Of the engine's own metrics; stages/scrape has them by these names.
	CounterReset  = "counter-reset"
	SeveralModels = "several-models"
	NoScrapePair  = "no-scrape-pair"

	// Of a search; stages/measure/arrival has them by these names.
	LowFails        = "low-fails"
	ProbesExhausted = "probes-exhausted"
	ClientLimited   = "client-limited"
)

// DescriptiveOnly labels percentiles of fewer than [DescriptiveBelow] values.
const DescriptiveOnly = "descriptive-only"

// Reasons is the table of reason codes and labels; documentation is printed
// from it.
var Reasons = []struct{ Code, Sentence string }{
	{NoRequests, "no request of the cell succeeded"},
	{NoOutput, "nothing was generated"},
	{NoVisibleOutput, "nothing visible was generated"},
	{NotComplete, "the stream did not end"},
	{InconsistentTime, "the time stamps are out of order; the row is kept and left out"},
	{ContractFailed, "the answer broke its canary or output contract"},
	{RequestFailed, "the request failed"},
	{NoUsage, "the engine did not report token counts; chunks are never counted as tokens"},
	{NotReported, "the engine did not report it"},
	{NoPrefillTime, "the engine did not report an isolated prefill time"},
	{TooShort, "fewer output tokens or events than the formula needs"},
	{CoarseChunks, "too few events for the number of tokens: an event carries several"},
	{NoEventStamps, "only the first and the last output event were stamped"},
	{NoWriteStamp, "it is not known when the request had been written"},
	{NoFirstTokens, "it is not known how many tokens the first event carried"},
	{ZeroDuration, "the duration is 0, so there is no rate"},
	{IncompleteCell, "not every attempted request completed"},
	{NoCPUTime, "the client's CPU time could not be read"},
	{OneRun, "one run has no spread"},
	{ZeroMean, "the mean, or what is compared with, is 0, so there is no ratio to it"},
	{NotFinite, "the result is not a finite number"},
	{NoAnswers, "there is no answer"},
	{Unscored, "no item has a score"},
	{NoPrice, "the campaign states no price of a GPU hour (publish.cost)"},
	{NoGPUCount, "it is not known on how many GPUs the candidate runs (parallelism)"},
	{NoCorrectItems, "not one item scored above 0"},
	{NotStreamed, "the answer came in one piece, so only its end is a time"},
	{ReasoningOutput, "reasoning was streamed, which capacity-v3 does not time and the engine's token count holds"},
	{HiddenReasoning, "the engine counts reasoning that it did not send, so its time is not in the generation's"},
	{NoSteadyWindow, "there was no time in which every stream was busy"},
	{FewCompletions, "fewer than 3 requests ended while every stream was busy"},
	{BelowMean, "the largest rate came out below the mean, so the numbers contradict each other"},
	{TooBrief, "the time is too short for a rate: below 1 s for a peak, below 10 ms for tok_per_sec"},
	{ClosedLoop, "the cell is a closed loop: nothing was planned for a moment"},
	{OpenLoop, "the cell is an open loop: it has no number of streams to be full"},
	{NoSLO, "the campaign states no SLO for the workload"},
	{Unaccounted, "planned requests are neither answered, failed nor unsent, so some were lost"},
	{NoSelfCheck, "the client was not checked against a server of known timing"},
	{NotCounted, "the requests in flight were not counted"},
	{NoServerMetrics, "the engine has no metrics of its own, or they could not be read"},
	{CounterReset, "a counter of the engine fell or vanished while the cell ran: it was restarted"},
	{SeveralModels, "the engine's metrics are of several models, and which of them served the cell is not known"},
	{NoScrapePair, "the engine's metrics were not read both before and after the cell"},
	{LowFails, "of a search: the SLO does not hold at its lower end"},
	{ProbesExhausted, "of a search: it looked as often as it may without an answer that its confirmations bore out"},
	{ClientLimited, "of a search: the client, not the engine, failed at its lower end, as often as it was tried"},
	{NotChecked, "the workload knows no right answers"},
	{NoLengthAsked, "no prompt length was asked for"},
	{OtherWorkload, "another kind of workload measures it"},
	{BaselineFailed, "the baseline or the shortest context already fails the policy"},
	{TooFewToCertify, "of a certified percentile: fewer values than can certify it, whatever they are"},
	{NoneDegraded, "no context length failed the policy"},
	{DescriptiveOnly, "label, not null: fewer than 100 values, so the tail percentiles describe these values only"},
	{MeanOfRuns, "label, not null: the mean over runs of each run's own number"},
	{BelowFloor, "of a context length, not of a null: the pass rate is below the policy's floor"},
	{DropTooBig, "of a context length, not of a null: the pass rate fell further from the baseline's than the policy allows"},
}
