package table

import (
	"fmt"
	"regexp"
	"strconv"
)

// FieldTest is the column of llama-bench, and of tools that write as it does,
// which says what the rate in the row is of: pp512 is 512 tokens of prompt, tg128
// are 128 generated tokens, "@ d4096" comes after 4,096 tokens that stand in the
// context already.
const FieldTest = "test"

var testCell = regexp.MustCompile(`^(pp|tg)\s*([0-9]{1,9})(?:\s*@\s*d\s*([0-9]{1,9}))?$`)

// tested turns the rate of such a row into prefill or decode speed, and sets the
// context to the prompt and what stands before it. The error says why
// the rate cannot be read.
func tested(cell string, r *Row, c column) (column, error) {
	m := testCell.FindStringSubmatch(cell)
	if m == nil {
		return c, fmt.Errorf("the test %q is neither of a prompt (pp512) nor of generation (tg128), so it is not known what the rate is of", cell)
	}
	tokens, _ := strconv.ParseFloat(m[2], 64)
	context, _ := strconv.ParseFloat("0"+m[3], 64)
	c.metric = "decode_tok_s"
	if m[1] == "pp" {
		c.metric, context = "prefill_tok_s", context+tokens
	}
	if r.Context == nil && context > 0 {
		r.Context = &context
	}
	return c, nil
}
