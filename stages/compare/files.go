package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
	"github.com/cupel-dev/cupel/stages/stats"
)

// FileOptions say how two score files are compared.
type FileOptions struct {
	Stats        stats.Options
	Missing      string // policy; "" = undetermined
	NameA, NameB string // for messages; "" = A.jsonl, B.jsonl
}

// FileResult is the comparison of two score files. What a rule says of it is
// left to the caller; with attrition under the policy undetermined no rule may
// pass.
type FileResult struct {
	Stats     stats.Result       `json:"stats"`
	Attrition evidence.Attrition `json:"attrition"`
}

// Files compares two score files: JSONL with one {"id", "score", "strata"?,
// "cluster"?} a line, or the scores.jsonl of a score step, in any order. A
// score is a finite number; null says that the item has none. Errors carry the
// file and the line.
func Files(a, b io.Reader, opt FileOptions) (FileResult, error) {
	policy, err := checkPolicy(opt.Missing)
	if err != nil {
		return FileResult{}, err
	}
	sideA, err := readFile(cmp.Or(opt.NameA, "A.jsonl"), a)
	if err != nil {
		return FileResult{}, err
	}
	sideB, err := readFile(cmp.Or(opt.NameB, "B.jsonl"), b)
	if err != nil {
		return FileResult{}, err
	}
	p, err := pair(sideA, sideB, policy, 1)
	if err != nil {
		return FileResult{}, err
	}
	res, err := p.statistics(opt.Stats)
	return FileResult{Stats: res, Attrition: p.attrition}, err
}

// fileRow is a line of either form; exactly one of Score and Value is given.
type fileRow struct {
	ID      string            `json:"id"`
	Score   jsontext.Value    `json:"score"`
	Value   jsontext.Value    `json:"value"`
	Strata  map[string]string `json:"strata"`
	Cluster string            `json:"cluster"`
	Weight  float64           `json:"weight"`

	// Of a scores.jsonl; not looked at.
	Reason    string `json:"reason"`
	Scorer    string `json:"scorer"`
	N         int    `json:"n"`
	Truncated int    `json:"truncated"`
	Failed    int    `json:"failed"`

	Theirs jsontext.Value `json:"theirs"` // another tool's scores, which cupel score keeps beside
}

func readFile(name string, r io.Reader) (side, error) {
	s := side{}
	err := items.ReadRows(name, r, func(row fileRow) error {
		value, err := row.value()
		if err != nil {
			return err
		}
		return s.add(evidence.ScoreRow{ID: row.ID, Strata: row.Strata, Cluster: row.Cluster, Weight: row.Weight, Value: value})
	})
	if err == nil && len(s) == 0 {
		err = &items.Error{Name: name, Line: 1, Err: errors.New("there are no rows in the file")}
	}
	return s, err
}

func (row fileRow) value() (*float64, error) {
	v := row.Score
	switch {
	case row.Score != nil && row.Value != nil:
		return nil, errors.New(`the row has both "score" and "value"; one is enough`)
	case row.Score == nil && row.Value == nil:
		return nil, errors.New(`the row has no "score"; write null for an item without one`)
	case row.Score == nil:
		v = row.Value
	}
	switch v.Kind() {
	case 'n':
		return nil, nil
	case '0':
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return nil, fmt.Errorf("the score %.40s is out of range", v)
		}
		return &f, nil
	}
	return nil, fmt.Errorf("the score is %.40q, want a number", v)
}
