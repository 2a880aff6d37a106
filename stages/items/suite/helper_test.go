package suite

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func fromJSON(text string) any {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil
	}
	return v
}
