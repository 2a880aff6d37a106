package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Known is a value, or the reason why there is none. In JSON it is
// {"value": …} or {"unknown": "reason"}.
type Known[T any] struct {
	Value   *T
	Unknown string // why Value is nil
}

// The kinds of fields.
type (
	Text   = Known[string]
	Number = Known[float64]
	Flag   = Known[bool]
	Texts  = Known[[]string]
	Suites = Known[[]Suite]
)

func is[T any](v T) Known[T]                { return Known[T]{Value: &v} }
func unknown[T any](reason string) Known[T] { return Known[T]{Unknown: reason} }

// or is k, or other when k has no value.
func (k Known[T]) or(other Known[T]) Known[T] {
	if k.Value == nil {
		return other
	}
	return k
}

// MarshalJSON writes the value or the reason.
func (k Known[T]) MarshalJSON() ([]byte, error) {
	if k.Value == nil {
		return json.Marshal(map[string]string{"unknown": k.Unknown})
	}
	return json.Marshal(map[string]*T{"value": k.Value})
}

// UnmarshalJSON reads what MarshalJSON writes, and nothing else.
func (k *Known[T]) UnmarshalJSON(b []byte) error {
	var form struct {
		Value   *T      `json:"value"`
		Unknown *string `json:"unknown"`
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&form); err != nil {
		return err
	}
	switch {
	case (form.Value == nil) == (form.Unknown == nil):
		return errors.New(`want {"value": …} or {"unknown": "reason"}`)
	case form.Unknown != nil && *form.Unknown == "":
		return errors.New("unknown, and the reason is empty")
	case form.Unknown != nil:
		k.Unknown = *form.Unknown
	}
	k.Value = form.Value
	return nil
}

// field lets a walk over a record look at any Known.
type field interface {
	get() (value any, reason string)
}

func (k Known[T]) get() (any, string) {
	if k.Value == nil {
		return nil, k.Unknown
	}
	return *k.Value, ""
}

// blank is what a walk that completes a record needs.
type blank interface{ because(reason string) }

func (k *Known[T]) because(reason string) {
	if k.Value == nil && k.Unknown == "" {
		k.Unknown = reason
	}
}
