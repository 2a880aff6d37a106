package llm

func lineFields(name []byte) fieldSet {
	if string(name) == "message" {
		return fMessage
	}
	return restFields(name)
}

func generateFields(name []byte) fieldSet {
	switch string(name) {
	case "response":
		return fContent
	case "thinking":
		return fReasoning
	}
	return restFields(name)
}

func restFields(name []byte) fieldSet {
	switch string(name) {
	case "model":
		return fModel
	case "created_at":
		return fIgnored
	case "done":
		return fDone
	case "error":
		return fNull
	}
	return 0
}

func messageFields(name []byte) fieldSet {
	switch string(name) {
	case "role":
		return fIgnored
	case "content":
		return fContent
	case "thinking":
		return fReasoning
	case "tool_calls":
		return fNull
	case "images":
		return fNull2
	}
	return 0
}

// usualLine reads a line of one of Ollama's streams that is not the last one.
func (s *scan) usualLine(fields func([]byte) fieldSet, u *usualEvent) {
	var seen fieldSet
	s.take('{')
	for s.more(seen == 0, '}') {
		switch f := s.name(fields, &seen); f {
		case fDone:
			s.literal("false")
		case fMessage:
			s.usualDelta(messageFields, u)
		default:
			s.common(f, u)
		}
	}
}
