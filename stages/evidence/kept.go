package evidence

import (
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/metric"
)

// Kept says which rows of a generation were not asked for: the very same
// request had been answered for an earlier set of the same family, and the row
// was taken over as it is, times included.
type Kept struct {
	Rows  int        `json:"rows"`  // taken over
	Asked int        `json:"asked"` // all others
	From  []KeptFrom `json:"from"`  // the record finished last first
	// Beside are the requests that were in flight together with rows that were
	// taken over and that are not in this set, sorted: those rows did not have
	// the endpoint to themselves, and did not cost its time alone.
	Beside []Beside `json:"beside"`
}

// KeptRows is what the evidence record says of it.
type KeptRows struct {
	Rows   int        `json:"rows"`
	Asked  int        `json:"asked"`
	From   []KeptFrom `json:"from"`
	Oldest string     `json:"oldest,omitempty"` // day of the oldest request of the set, UTC
}

// Beside is a request of an earlier set.
type Beside struct {
	ID     string `json:"id"`
	Sample int    `json:"sample"`
	Repeat int    `json:"repeat"`
	metric.Span
}

// KeptFrom is a record that rows were taken from.
type KeptFrom struct {
	Key    step.Key `json:"key"`
	Record int      `json:"record"` // its number within the key
	Rows   int      `json:"rows"`
}
