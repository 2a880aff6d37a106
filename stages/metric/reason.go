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
	NoFirstTokens    = "no-first-chunk-tokens"
	ZeroDuration     = "zero-duration"
	IncompleteCell   = "incomplete-cell"
	NoCPUTime        = "no-cpu-time"
	OneRun           = "one-run"
	ZeroMean         = "zero-mean"
	NotFinite        = "not-finite"
	NoAnswers        = "no-answers"
	Unscored         = "unscored"
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
	{TooShort, "fewer output tokens than the formula needs"},
	{CoarseChunks, "too few events for the number of tokens: an event carries several"},
	{NoEventStamps, "only the first and the last output event were stamped"},
	{NoFirstTokens, "it is not known how many tokens the first event carried"},
	{ZeroDuration, "the duration is 0, so there is no rate"},
	{IncompleteCell, "not every attempted request completed"},
	{NoCPUTime, "the client's CPU time could not be read"},
	{OneRun, "one run has no spread"},
	{ZeroMean, "the mean is 0, so there is no relative spread"},
	{NotFinite, "the result is not a finite number"},
	{NoAnswers, "there is no answer"},
	{Unscored, "no item has a score"},
	{DescriptiveOnly, "label, not null: fewer than 100 values, so the tail percentiles describe these values only"},
}
