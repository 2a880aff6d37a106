package build

// reason is why a line did not become an item. Reasons quote nothing of a line:
// what stands there may be what must not be shown.
type reason string

func (r reason) Error() string { return string(r) }

// Lines that are broken count against Options.MaxBroken.
const (
	notJSON   reason = "not valid JSON"
	notObject reason = "not a JSON object"
	twice     reason = "a name stands twice in one object"
	notUTF8   reason = "not valid UTF-8"
	tooLong   reason = "longer than a line may be"
	noInput   reason = "there is no input where it is looked for"
	badInput  reason = "the input is neither a text nor a list of messages"
	badTools  reason = "the tools or tool calls are not a list"
	badSystem reason = "the system prompt is not a text"
	badTime   reason = "the time cannot be read"
	badID     reason = "the id is neither a text nor a whole number"
	badLabel  reason = "a label is neither a text nor a number nor true or false"
)

// Lines that are in order and cannot be a text item.
const (
	notText    reason = "content other than text"
	otherRole  reason = "a role that items do not have"
	emptyTurn  reason = "a message without content"
	notAsked   reason = "nothing is asked"
	notMessage reason = "an input element that is not a message"
)

func (r reason) unsupported() bool {
	switch r {
	case notText, otherRole, emptyTurn, notAsked, notMessage:
		return true
	}
	return false
}
