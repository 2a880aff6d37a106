package metric

// Mark says what keeps the numbers of a cell, or some of them, from deciding
// anything. The numbers are kept and shown.
type Mark struct{ Code, Sentence string }

// The marks.
var (
	ClientBound   = Mark{"client-bound", "the client was the bottleneck of the cell or cannot be trusted, so its times and rates are not the engine's"}
	WarmCache     = Mark{"warm-cache", "prompts that were meant to be new were found in a cache in the cell"}
	OffRate       = Mark{"off-rate", "the planned schedule was not kept in the cell"}
	UsageOff      = Mark{"usage-off", "the client's count of output tokens and the engine's own counter are more than 2 % apart in the cell, so one of them is wrong or others used the engine"}
	OffLength     = Mark{"off-length", "prompts are more than 2 % off the length that was asked for, as the engine counts them, in the cell"}
	WrongState    = Mark{"wrong-state", "the prompts were not in the cache state that the ladder asks for in the cell"}
	GapsUncertain = Mark{"gaps-uncertain", "the client's lag is large against the gaps between tokens in the cell"}
	LowerBound    = Mark{"lower-bound", "the search ended at its upper end, or where the client could not follow, so the true value may be larger (the cell's notes say which)"}
)

// Marks lists the marks of the cell.
func (c *Cell) Marks() (out []Mark) {
	for _, m := range []struct {
		is   bool
		mark Mark
	}{
		{c.ClientBound, ClientBound}, {c.WarmCache, WarmCache}, {c.OffRate, OffRate}, {c.UsageOff, UsageOff}, {c.OffLength, OffLength},
		{c.WrongState, WrongState}, {c.GapsUncertain, GapsUncertain}, {c.LowerBound, LowerBound},
	} {
		if m.is {
			out = append(out, m.mark)
		}
	}
	return out
}
