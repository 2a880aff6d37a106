package llmtest

// Row is one public mistake of a measuring client, and what shows that this
// one does not make it: cases of the suite, tests beside the client, or, for
// what is not the wire client's business, tests of the packages that answer for
// it.
type Row struct {
	ID        string // T timing, K counts, S streams, F failures, L load, A export, D prompts and caches, E engines' own numbers
	Mistake   string
	Cases     []string // names of Hostiles
	Tests     []string // functions in stages/llm
	Elsewhere []Place
}

// Place is a folder of the module, and tests in it.
type Place struct {
	Folder string
	Why    string   // what they look at
	Tests  []string // functions
}

// Rows returns the table, in order.
func Rows() []Row {
	var out []Row
	for _, part := range [][]Row{timingRows, countRows, streamRows, failureRows, loadRows, cacheRows, engineRows} {
		out = append(out, part...)
	}
	return out
}

func on(id, mistake string, cases ...string) Row { return Row{ID: id, Mistake: mistake, Cases: cases} }

func (r Row) by(tests ...string) Row { r.Tests = tests; return r }

func (r Row) at(folder, why string, tests ...string) Row {
	r.Elsewhere = append(r.Elsewhere, Place{folder, why, tests})
	return r
}

var timingRows = []Row{
	on("T1", "a role-only first delta is taken for a token", "timed: role-only delta early", "timed: role without content early", "role first"),
	on("T2", "any event with choices is taken for a token", "timed: role-only delta early", "timed: empty channels early"),
	on("T3", "null and empty content give different first tokens", "timed: null content early", "timed: role-only delta early", "null and empty deltas"),
	on("T4", "reasoning is not seen, or only under one name", "timed: reasoning first", "reasoning_content first", "thinking", "ndjson: thinking"),
	on("T5", "an empty spelling of reasoning hides the other", "timed: reasoning beside its empty spelling", "reasoning first, the other spelling empty"),
	on("T6", "the first token's time is overwritten later", "timed: usage and end long after the last output", "timed: role-only delta early"),
	on("T7", "the first token's time is also a gap", "timed: role-only delta early", "timed: one token"),
	on("T8", "gaps between tokens include the time before the first", "timed: role-only delta early").at("stages/metric", "ITL and TPOT leave the first stamp out", "TestMistakes"),
	on("T9", "a trailing usage event moves the last token", "timed: usage and end long after the last output"),
	on("T10", "sentinel, role and usage events count as tokens", "timed: role-only delta early", "timed: empty channels early", "running usage"),
	on("T11", "text is tokenized chunk by chunk, with special tokens", "special tokens as text", "text that a tokenizer would shorten"),
	on("T12", "an answer of one token has no first-token time", "timed: one token").at("stages/metric", "its TPOT and ITL are null", "TestMistakes"),
	on("T13", "a gap between events of several tokens is called a token's", "timed: three tokens in each event").at("stages/metric", "ITL is null when events are coarser than tokens", "TestMistakes"),
	on("T14", "the peak rate counts events", "timed: three tokens in each event").at("stages/metric", "peak >= mean", "TestPeakIsNeverBelowTheMean", "TestMistakes"),
	on("T15", "a stream that the server held back looks like a fast one", "timed: a tool call that the server held back").at("stages/metric", "coarse-chunks", "TestMistakes"),
	on("T16", "the tokens of the first event count as decoded after it", "timed: five tokens in the first event"),
	on("T17", "the end is stamped at the wrong place", "timed: usage and end long after the last output", "timed: an event in two reads").by("TestStampsAreOrdered"),
	on("T18", "events are stamped after they are parsed").by("TestStampIsTheRead"),
	on("T19", "a framing event is taken for the first token", "timed: comments through a long prefill", "timed: role-only delta early"),
	on("T20", "two events with one stamp are an error", "timed: two events in one read"),
	on("T21", "answers that do not stream have a first-token time", "timed: one document", "one document"),
	on("T22", "a run starts when its scheduler does").at("stages/measure/dispatch", "the window starts at the first dispatch; here every stamp counts from its own request's", "TestOpenSendsAtThePlannedInstants"),
	on("T23", "the wall clock times a request").by("TestMonotonicClock", "TestInconsistentClock"),
	on("T24", "decode speed from two separate requests", "timed: role-only delta early").at("stages/metric", "decode speed is taken within one stream", "TestMistakes"),
}

var countRows = []Row{
	on("K1", "usage is only read from an event without choices", "usage in the last choice chunk", "timed: usage with the last text"),
	on("K2", "usage null is an error, or wipes the real one", "null error and usage", "usage null after the real one"),
	on("K3", "usage is not asked for; what broke off counts as 0", "running usage of a stream that is cut", "no usage").by("TestPreparedBytes"),
	on("K4", "a partial usage is lost", "reasoning tokens without completion tokens", "partial usage").by("TestPartialUsageIsKept"),
	on("K5", "reasoning tokens are added to those that include them", "completion tokens include reasoning"),
	on("K6", "tokens are counted from the visible text", "timed: hidden reasoning", "completion tokens include reasoning"),
	on("K7", "text is tokenized again, silently", "text that a tokenizer would shorten", "no usage"),
	on("K8", "another tokenizer's prompt length goes unnoticed", "more prompt than was planned").at("stages/measure", "prompts are as long as planned, as the engine counts them", "TestCalibration"),
	on("K9", "a bad count is dropped, and another takes its place", "negative usage", "fractional usage", "usage as a string", "usage beyond 2^53", "usage is no object", "ndjson: negative count"),
	on("K10", "tool definitions are no input", "more prompt than was planned"),
	on("K11", "an answer in one document has one token", "timed: one document", "one document"),
	on("K12", "prose beside a tool call is dropped", "prose and a tool call with null content", "tool call before the text"),
	on("K13", "every line is a token; empty choices are an error", "timed: role-only delta early", "null and empty deltas", "plain"),
	on("K14", "a drawn output length below 1 is sent").by("TestPrepareErrors").at("stages/measure/arrival", "a recorded length below 0 is refused", "TestReadTraceRefuses"),
	on("K15", "special tokens make the prompt another length", "more prompt than was planned").at("stages/metric", "asked and reported lengths stand side by side in each row", "TestMistakes"),
	on("K16", "null content beside a tool call is an error", "prose and a tool call with null content", "timed: a tool call that the server held back"),
	on("K17", "tool_calls null is an error", "null and empty deltas"),
}

var streamRows = []Row{
	on("S1", "CRLF, or no space after data:, gives no event and no failure", "CRLF", "CR", "CRLF, every byte a read", "no space after data:", "several data lines"),
	on("S2", "a body without a single event is a success", "no event in the body", "empty stream", "CRLF"),
	on("S3", "data: without a space is not read", "no space after data:"),
	on("S4", "the sentinel is only known with a space", "no space before the sentinel", "spaces around the sentinel"),
	on("S5", "comments and other fields break the parser", "comments", "event, id and retry lines", "unknown fields", "timed: comments through a long prefill"),
	on("S6", "a character split over reads is an error", "UTF-8 split over reads"),
	on("S7", "a character split over reads is replaced silently", "UTF-8 split over reads", "not UTF-8", "half a surrogate pair"),
	on("S8", "lines end at U+2028 or U+0085", "U+2028, U+0085 and NUL in a string"),
	on("S9", "events split over reads are lost; raw line ends are let through", "every byte a read", "timed: an event in two reads", "raw line end in a string").by("TestEveryOffset", "TestFramingDoesNotDependOnReads"),
	on("S10", "a space at the edge of a read is eaten", "white space is content, at a read's edge too").by("TestEveryOffset"),
	on("S11", "a long event is an error", "200,000-byte event", "1 MiB event", "event beyond the bound").by("TestBounds"),
	on("S12", "several events in one read count as one", "timed: two events in one read", "sentinel inside one write with all events"),
	on("S13", "the stream is used up before it is parsed", "plain", "chunks that do not respect events"),
	on("S14", "no finish reason, a dropped connection, empty content", "empty content chunks, sentinel without a finish reason", "sentinel without a finish reason", "cut", "reset"),
	on("S15", "the client waits for a server that keeps the stream open", "held open after the sentinel", "no sentinel, held open after the usage", "ndjson: held open after done").by("TestTimeout"),
	on("S16", "compression is offered, and a proxy holds events back", "gzip").by("TestHeaders"),
}

var failureRows = []Row{
	on("F1", "an error object in a 200 stream is a success", "error in the stream", "error as a string", "error by its object", "error event", "error field", "error only", "ndjson: error line", "error document with status 200"),
	on("F2", "an empty answer is a success", "nothing visible", "only the sentinel", "reasoning only"),
	on("F3", "an empty answer that was planned is a failure", "empty answer to a probe of the prompt").by("TestNoOutput"),
	on("F4", "a 503 is sent again behind the caller's back", "503", "429").by("TestNoHiddenRetry", "TestRefusalIsNotRetried"),
	on("F5", "a run with many failures passes").at("stages/metric", "failures stay in the denominator, and throughput is null", "TestThroughputIsForWholeCells"),
	on("F6", "all requests fail, and the exit code is 0").at("cmd/cupel", "exit codes of undetermined and failed campaigns", "TestScript"),
	on("F7", "a time-out throws a whole set away", "quiet until the deadline").at("stages/metric", "failures are counted beside the survivors", "TestMistakes"),
	on("F8", "ignore_eos is forced, and the failures vanish").by("TestPreparedExtras").at("stages/metric", "the number of failures stands beside each percentile", "TestThroughputIsForWholeCells"),
	on("F9", "what arrived before the break is lost", "cut", "reset", "broken chunk", "running usage of a stream that is cut", "quiet until the deadline"),
	on("F10", "refused requests vanish", "429", "503", "500", "500 with Retry-After"),
	on("F11", "a pooled connection that the server closed is the candidate's failure", "closed without an answer", "reset without an answer").by("TestNoHiddenRetry", "TestIdleConnections"),
	on("F12", "a TCP keep-alive probe ends a long prefill", "timed: comments through a long prefill").by("TestNoKeepAliveProbes"),
	on("F13", "a broken answer is a success if it has text", "cut", "cut inside an event", "last chunk missing", "ndjson: cut"),
	on("F14", "the counts of a report do not add up").at("stages/metric", "planned = completed + failed + not sent", "TestOpenLoop"),
}

var loadRows = []Row{
	on("L4", "sleeps between requests add up: the schedule drifts").at("stages/measure/dispatch", "each leaves at its own instant of the plan", "TestOpenSendsAtThePlannedInstants"),
	on("L5", "an open loop sends past its deadline").at("stages/measure/dispatch", "nothing leaves after the window", "TestOpenSendsNothingAfterTheWindow", "TestOpenCutsWhatIsInFlight"),
	on("L6", "poisson arrivals are a grid with jitter").at("stages/measure/arrival", "gaps follow their distribution, by Kolmogorov-Smirnov", "TestGapsFollowTheirDistribution", "TestDistanceFindsEvenGaps"),
	on("L8", "constant arrivals are exponential").at("stages/measure/arrival", "arrival i is at i / rate", "TestConstantIsExactlyIOverRate"),
	on("L9", "an arrival counts from the one before").at("stages/measure/dispatch", "after a delay the rest keeps its instants", "TestOpenIsLateInTheOpen"),
	on("L10", "requests leave in another order than planned").at("stages/measure/dispatch", "in the order of the plan", "TestOpenSendsAtThePlannedInstants"),
	on("L11", "a pool smaller than the concurrency queues requests unseen").by("TestWarm", "TestMoreRequestsThanConnections"),
	on("L12", "all connections are opened at once").by("TestWarmIsPaced"),
	on("L13", "the next request waits for a whole batch").at("stages/measure/dispatch", "each slot refills by itself", "TestClosedRefillsEachSlot").
		at("stages/measure", "a slow request holds up its own worker only", "TestCellRefills"),
	on("L14", "two phases wait for one another for ever").at("stages/measure", "an error and an interrupt let nobody wait", "TestFeederEnds", "TestCellStops").
		at("stages/measure/dispatch", "a loop ends with its context", "TestClosedStopsWithItsContext", "TestOpenStopsWithItsContext"),
	on("L16", "the warm-up is another load, or is counted").at("stages/measure", "it has the cell's shape, prompts of its own, and is outside the wall", "TestCell"),
	on("L17", "connecting is inside the time to the first token").by("TestWarm", "TestConnectionTime"),
}

var cacheRows = []Row{
	on("A8", "columns of an export shift").at("stages/measure", "a cell file has named fields, and one that is unknown or missing is refused", "TestDamagedCellFile"),
	on("D1", "all random prompts are the same one").at("stages/measure/prompts", "prompts differ, and how many do is counted", "TestUnique", "TestDigest").
		at("stages/measure", "the count is in the header of the cell", "TestCell"),
	on("D2", "a second run finds its prompts in the cache").at("stages/measure", "workloads, cells and trials share no prompt", "TestWorkloadsShareNoPrompt").
		at("stages/metric", "a cell that did is marked", "TestWarmCache"),
	on("D3", "a prompt is cut to its shared prefix").at("stages/measure/prompts", "a prefix as long as the prompt is refused", "TestRefusedCells", "TestShared"),
	on("D4", "prompts are far shorter than asked for").at("stages/measure", "lengths are held to within 2 %, or it is said that they are not", "TestCalibration", "TestUncalibrated"),
	on("D5", "each worker draws the same prompts").at("stages/measure/prompts", "a prompt is a function of its index", "TestUnique").
		at("stages/measure/arrival", "the plan is drawn once, before the run", "TestPlansAreSeeded"),
	on("D6", "the warm-up sends the first request").at("stages/measure", "it has prompts of its own", "TestCell"),
	on("D7", "a distribution of lengths is ignored").at("stages/measure/prompts", "each request has the length that was drawn for it", "TestLengthsByIndex", "TestLengthPlans"),
	on("D8", "the last block of a prefix is expected in the cache").at("stages/measure/prompts", "one block less is expected", "TestLadderBefore").
		at("stages/measure", "against what the engine reports", "TestLadderStates"),
	on("D9", "the engine counts what it computes again as found").at("stages/metric", "its counters stand beside the client's numbers", "TestServerOverTrials").
		at("stages/measure", "as they were read", "TestScrapes"),
}

var engineRows = []Row{
	on("E28", "speculative decoding: events count as tokens", "timed: three tokens in each event"),
	on("E29", "a peak rate below the mean").at("stages/metric", "peak >= mean", "TestPeakIsNeverBelowTheMean"),
	on("E30", "events over wall time, prefill included", "timed: three tokens in each event").at("stages/metric", "decode speed needs tokens, and starts at the first output", "TestMistakes"),
	on("E31", "the first event is taken for one token", "timed: five tokens in the first event", "timed: a tool call that the server held back"),
	on("E32", "hidden reasoning makes a decode look fast", "timed: hidden reasoning").at("stages/metric", "a request's rate against the server's", "TestMistakes"),
	on("E33", "reasoning is not seen: the first token is late", "timed: reasoning first", "timed: tool call first"),
	on("E36", "prefill speed without the prompt's length").at("stages/metric", "units are in the name, formulas in one table", "TestUnits", "TestDictionaryIsWhole"),
	on("E37", "a prompt that the server cut goes unnoticed", "ndjson: a prompt that the server cut").by("TestCapturedLimits"),
	on("E38", "a count that is left out is 0", "ndjson: no prompt count for a cached prompt", "ndjson: counts left out", "all-zero usage only"),
}
