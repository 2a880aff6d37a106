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

	// Of energy.
	NoMeter             = "no-meter"
	DomainMissing       = "domain-missing"
	BasesDiffer         = "bases-differ"
	CounterFrozen       = "counter-frozen"
	CounterBackwards    = "counter-backwards"
	PublicationCoarse   = "publication-too-coarse"
	SamplingGap         = "sampling-gap"
	NotBracketed        = "not-bracketed"
	GPUSetMismatch      = "gpu-set-mismatch"
	ForeignProcess      = "foreign-process"
	MIG                 = "mig"
	Thermal             = "thermal"
	PowerLimitChanged   = "power-limit-changed"
	DriverChanged       = "driver-changed"
	CrossCheck          = "cross-check"
	Implausible         = "implausible"
	ClockStepped        = "clock-stepped"
	ClockUnknown        = "clock-unknown"
	ClockOffsetTooLarge = "clock-offset-too-large"
	Overlapping         = "overlapping-requests"
	PartialRequests     = "partial-requests"
	DecodeOnly          = "decode-only"
	OneToken            = "one-token"
	NoIdle              = "no-idle"
	IdleTooShort        = "idle-too-short"
	IdleCV              = "idle-cv"
	BusyHost            = "busy-host"
	NotAboveIdle        = "not-above-idle"
	NoKWhPrice          = "no-kwh-price"

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

// Indicative labels energy of a window of less than [IndicativeBelowS].
const Indicative = "indicative"

// IndicativeBelowS is how many seconds of measurement MLPerf Power asks for.
const IndicativeBelowS = 600

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
	{TooBrief, "the time is too short for a rate: below 1 s for a peak, or the power of a turn, below 10 ms for tok_per_sec"},
	{ClosedLoop, "the cell is a closed loop: nothing was planned for a moment"},
	{OpenLoop, "the cell is an open loop: it has no number of streams to be full"},
	{NoSLO, "the campaign states no SLO for the workload"},
	{Unaccounted, "planned requests are neither answered, failed nor unsent, so some were lost"},
	{NoSelfCheck, "the client was not checked against a server of known timing"},
	{NotCounted, "the requests in flight were not counted"},
	{NoServerMetrics, "the engine has no metrics of its own, or they could not be read"},
	{CounterReset, "a counter fell to its beginning, or vanished, while the cell ran: the engine or the driver that keeps it was restarted"},
	{SeveralModels, "the engine's metrics are of several models, and which of them served the cell is not known"},
	{NoScrapePair, "the engine's metrics were not read both before and after the cell"},
	{LowFails, "of a search: the SLO does not hold at its lower end"},
	{ProbesExhausted, "of a search: it looked as often as it may without an answer that its confirmations bore out"},
	{ClientLimited, "of a search: the client, not the engine, failed at its lower end, as often as it was tried"},
	{NoMeter, "no meter ran beside the cell, and no recording of one was given"},
	{DomainMissing, "a part of the machine that the base is made of was not read on every device; an average over the last second is never integrated"},
	{BasesDiffer, "trials were read from different sets of domains, which are never pooled"},
	{CounterFrozen, "a counter stood still for five times as long as it takes to change, or never changed"},
	{CounterBackwards, "a counter fell, and it did not go round: its range is not known, or the value does not fit it"},
	{PublicationCoarse, "the counter changes too seldom for the window: half a period at its ends is more of it than the campaign allows"},
	{SamplingGap, "the counter was not looked at for too long, so that the ends of the window, or how often it went round, are not known"},
	{NotBracketed, "the recording does not reach from before the window to after it"},
	{GPUSetMismatch, "the GPUs that serve the candidate are not among those that were read"},
	{ForeignProcess, "a GPU had more compute processes than the campaign allows, or others than at the start"},
	{MIG, "MIG is on: the counter is of the whole GPU, whoever uses it"},
	{Thermal, "the clocks were held down for heat or by the power brake for more than 0.5 % of the time"},
	{PowerLimitChanged, "the power limit was changed, or trials had different ones"},
	{DriverChanged, "the driver was changed, or trials had different ones"},
	{CrossCheck, "the energy counter and the integral of the instantaneous power are more than 5 % apart"},
	{Implausible, "the mean power cannot be true: above 1.2 times the limit, below a fifth of the idle machine's, or nothing at all"},
	{ClockStepped, "a wall clock was set while the recording was made, so that requests cannot be placed in it"},
	{ClockUnknown, "it is not known how the recording's clock stands to that of the requests, or how far off it may be"},
	{ClockOffsetTooLarge, "the recording's clock and that of the requests may be apart by more than the campaign allows of a window"},
	{Overlapping, "requests overlap, and nobody can tell whose energy it was"},
	{PartialRequests, "requests begin and end outside of the window, so that only the output tokens that arrived belong to it"},
	{DecodeOnly, "it is of the decode window alone"},
	{OneToken, "answers of one token have no time between tokens"},
	{NoIdle, "nobody waited for the idle machine"},
	{IdleTooShort, "the idle machine was looked at for less than 10 s or 20 periods of the counter"},
	{IdleCV, "the power of the idle machine varied by more than 10 %, so it was not idle"},
	{BusyHost, "the load average was above 2.0 while the machine was to be idle"},
	{NotAboveIdle, "not more was drawn than by the idle machine, or by no more than the two may be off by, so that nothing is left"},
	{NoKWhPrice, "the campaign states no price of a kilowatt-hour (publish.cost.kWh)"},
	{Indicative, "label, not null: energy of less than 600 s"},
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
