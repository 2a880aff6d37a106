package foreign

import (
	jsonv2 "github.com/go-json-experiment/json"
)

// parseCupel reads a row of responses.jsonl as strictly as a campaign does.
func parseCupel(line []byte, o Options) ([]Row, error) {
	row := Row{idFrom: "id"}
	if err := jsonv2.Unmarshal(line, &row.ResponseRow, jsonv2.RejectUnknownMembers(true)); err != nil {
		return nil, wording(err)
	}
	if err := setID(&row, line, o, "id"); err != nil {
		return nil, err
	}
	return []Row{row}, nil
}

// setID takes the id from where the caller says, else from a format's own field.
func setID(row *Row, line []byte, o Options, own string) error {
	row.idFrom = own
	if o.ID == "" && row.ID != "" {
		return nil
	}
	if o.ID != "" {
		row.idFrom = o.ID
	}
	var err error
	row.ID, err = idAt(line, row.idFrom)
	return err
}
