package energy

import (
	"fmt"

	"github.com/cupel-dev/cupel/stages/metric"
)

func text(v metric.Value) string {
	if v.Value == nil {
		return fmt.Sprintf("null %s (%s)", v.Unit, v.Reason)
	}
	return fmt.Sprintf("%.12g %s", *v.Value, v.Unit)
}
