package compare

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"github.com/cupel-dev/cupel/stages/evidence"
	"github.com/cupel-dev/cupel/stages/items"
)

// answerKey tells the answers of a generation apart.
type answerKey struct {
	id             string
	sample, repeat int
}

// agreement counts answers whose visible text and tool calls are the same.
// Answers that failed on either side are not compared. One side is kept as
// hashes, the other is streamed.
func agreement(a, b io.Reader) (evidence.TextAgreement, error) {
	var out evidence.TextAgreement
	hashes := map[answerKey][sha256.Size]byte{}
	err := eachAnswer(a, func(key answerKey, hash [sha256.Size]byte) error {
		if _, dup := hashes[key]; dup {
			return fmt.Errorf("item %q has two answers for sample %d, repeat %d", key.id, key.sample, key.repeat)
		}
		hashes[key] = hash
		return nil
	})
	if err != nil {
		return out, err
	}
	err = eachAnswer(b, func(key answerKey, hash [sha256.Size]byte) error {
		other, ok := hashes[key]
		if !ok {
			return nil
		}
		delete(hashes, key) // a second answer for the same key is not counted twice
		out.Compared++
		if other == hash {
			out.Identical++
		}
		return nil
	})
	return out, err
}

func eachAnswer(r io.Reader, f func(answerKey, [sha256.Size]byte) error) error {
	return items.ReadRows(evidence.OutResponses, r, func(row evidence.ResponseRow) error {
		if row.Failure != nil {
			return nil
		}
		hash, err := hashAnswer(&row)
		if err != nil {
			return err
		}
		return f(answerKey{row.ID, row.Sample, row.Repeat}, hash)
	})
}

// hashAnswer leaves out the ids of tool calls: servers draw them at random.
func hashAnswer(row *evidence.ResponseRow) ([sha256.Size]byte, error) {
	visible := []string{row.Text}
	for _, c := range row.ToolCalls {
		visible = append(visible, c.Name, c.Arguments)
	}
	b, err := json.Marshal(visible)
	return sha256.Sum256(b), err
}
