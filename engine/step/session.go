package step

// Attachment is a small document about a session: how long it took to open, or
// why it could not be. It is kept as an output of the steps that observe the
// session, beside what their runner wrote, and no step's key depends on it
// unless it names that output as an input.
type Attachment struct {
	Output    string
	MediaType string
	Content   []byte
}

// Unavailable is the error of a session that does not open for a reason of its
// own, such as a server that ends before it is ready. For a step that observes
// it is a negative result, recorded with what is attached; for any other step it
// is a failure of the outside.
type Unavailable struct {
	Reason   string // one sentence
	Attached []Attachment
}

// Error is the reason.
func (u *Unavailable) Error() string { return u.Reason }

// Is makes an Unavailable an ErrOutside.
func (u *Unavailable) Is(target error) bool { return target == ErrOutside }
