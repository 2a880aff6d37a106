package score

import (
	"errors"
	"fmt"

	"github.com/cupel-dev/cupel/stages/items"
)

type containsParams struct {
	IgnoreCase bool `json:"ignore_case" doc:"case does not count"`
	Words      bool `json:"words" doc:"only as whole words"`
}

var contains = define("contains", 1, `1 when "answer", a string, stands in the text`,
	containsParams{}, buildContains(func(found, all int) bool { return found == all }, true))

var containsAll = define("contains_all", 1, `1 when all texts of "answer" stand in the text`,
	containsParams{}, buildContains(func(found, all int) bool { return found == all }, false))

var containsAny = define("contains_any", 1, `1 when one of the texts of "answer" stands in the text`,
	containsParams{}, buildContains(func(found, _ int) bool { return found > 0 }, false))

func buildContains(holds func(found, all int) bool, single bool) func(containsParams, *items.Item, *env) (Func, error) {
	return func(p containsParams, it *items.Item, _ *env) (Func, error) {
		wanted, err := texts("answer", it.Answer)
		if err != nil {
			return nil, err
		}
		if single && len(wanted) > 1 {
			return nil, errors.New(`"answer" is a list; use contains_all or contains_any`)
		}
		f := finder{words: p.Words, fold: p.IgnoreCase}
		needles, err := f.list("answer", wanted)
		if err != nil {
			return nil, err
		}
		return func(out Output) (float64, string, error) {
			found, missing := f.count(out.Text, needles)
			reason := fmt.Sprintf("%d of %d texts", found, len(needles))
			if missing >= 0 {
				reason += fmt.Sprintf("; missing %q", clip(wanted[missing]))
			}
			return boolean(holds(found, len(needles))), reason, nil
		}, nil
	}
}
