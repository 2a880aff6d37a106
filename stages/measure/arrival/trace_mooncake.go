package arrival

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxMilliseconds lets a timestamp count from 1970 as well as from 0, up to
// the year 2200.
const maxMilliseconds = 7_258_118_400_000

// mooncakeLine is one line of a Mooncake trace.
type mooncakeLine struct {
	Timestamp *jsontext.Value `json:"timestamp"` // ms
	Input     *int64          `json:"input_length"`
	Output    *int64          `json:"output_length"`
	Blocks    []int64         `json:"hash_ids"`
}

func mooncakeRow(line []byte) (row TraceRow, ns int64, err error) {
	var l mooncakeLine
	if err := json.Unmarshal(line, &l); err != nil {
		return row, 0, fmt.Errorf("%q: %w", clip(line), err)
	}
	if l.Timestamp == nil || l.Input == nil || l.Output == nil {
		return row, 0, errors.New("timestamp, input_length and output_length are needed")
	}
	if ns, err = milliseconds(string(*l.Timestamp)); err != nil {
		return row, 0, err
	}
	if row.Prompt, err = tokens("input_length", *l.Input); err != nil {
		return row, 0, err
	}
	if row.Output, err = tokens("output_length", *l.Output); err != nil {
		return row, 0, err
	}
	row.Prefix, err = prefix(l.Blocks)
	return row, ns, err
}

// milliseconds reads a JSON number into nanoseconds: exactly when it is whole.
func milliseconds(s string) (int64, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 && n <= maxMilliseconds {
		return n * 1e6, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= maxMilliseconds) {
		return 0, fmt.Errorf("timestamp %s: want milliseconds from 0 to %d", clip([]byte(s)), int64(maxMilliseconds))
	}
	whole, part := math.Modf(f) // apart, because f*1e6 would round away what part says
	return int64(whole)*1e6 + int64(math.Round(part*1e6)), nil
}

func prefix(blocks []int64) (string, error) {
	var out []byte
	for i, id := range blocks {
		if id < 0 {
			return "", fmt.Errorf("hash_ids holds %d: want ids of 0 and above", id)
		}
		if i > 0 {
			out = append(out, ' ')
		}
		out = strconv.AppendInt(out, id, 10)
	}
	return string(out), nil
}
