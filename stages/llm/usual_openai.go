package llm

func chunkFields(name []byte) fieldSet {
	switch string(name) {
	case "id":
		return fIgnored
	case "created":
		return fIgnored2
	case "system_fingerprint":
		return fIgnored3
	case "service_tier":
		return fIgnored4
	case "obfuscation":
		return fIgnored5
	case "provider":
		return fIgnored6
	case "object":
		return fObject
	case "model":
		return fModel
	case "choices":
		return fChoices
	case "usage":
		return fNull
	case "error":
		return fNull2
	case "timings":
		return fNull3
	case "prompt_token_ids":
		return fNull4
	case "kv_transfer_params":
		return fNull5
	}
	return 0
}

// usualChunk reads a chunk of one choice that brings text or reasoning.
func (s *scan) usualChunk(choice func([]byte) fieldSet, u *usualEvent) {
	var seen fieldSet
	s.take('{')
	for s.more(seen == 0, '}') {
		switch f := s.name(chunkFields, &seen); f {
		case fObject:
			s.refuse(string(s.text()) == "error")
		case fChoices:
			s.take('[')
			s.usualChoice(choice, u)
			s.take(']')
		default:
			s.common(f, u)
		}
	}
}

func choiceFields(name []byte) fieldSet {
	if string(name) == "delta" {
		return fDelta
	}
	return endFields(name)
}

func textFields(name []byte) fieldSet {
	if string(name) == "text" {
		return fContent
	}
	return endFields(name)
}

// endFields are the members of a choice that are null until the last chunk.
func endFields(name []byte) fieldSet {
	switch string(name) {
	case "index":
		return fIndex
	case "finish_reason":
		return fFinish
	case "logprobs":
		return fNull
	case "stop_reason": // vLLM
		return fNull2
	case "token_ids": // vLLM
		return fNull3
	case "matched_stop": // SGLang
		return fNull4
	case "prompt_logprobs": // vLLM
		return fNull5
	case "prompt_token_ids": // vLLM
		return fNull6
	}
	return 0
}

func (s *scan) usualChoice(fields func([]byte) fieldSet, u *usualEvent) {
	var seen fieldSet
	s.take('{')
	for s.more(seen == 0, '}') {
		switch f := s.name(fields, &seen); f {
		case fIndex:
			s.take('0')
		case fFinish:
			s.refuse(len(s.text()) > 0)
		case fDelta:
			s.usualDelta(deltaFields, u)
		default:
			s.common(f, u)
		}
	}
}

func deltaFields(name []byte) fieldSet {
	switch string(name) {
	case "role":
		return fIgnored
	case "content":
		return fContent
	case "reasoning_content":
		return fReasoning
	case "reasoning":
		return fReasoning2
	case "thinking":
		return fReasoning3
	case "tool_calls":
		return fNull
	case "function_call":
		return fNull2
	case "refusal":
		return fNull3
	case "hidden_states":
		return fNull4
	}
	return 0
}

// usualDelta reads the delta of a choice, or the message of an Ollama line.
func (s *scan) usualDelta(fields func([]byte) fieldSet, u *usualEvent) {
	var seen fieldSet
	s.take('{')
	for s.more(seen == 0, '}') {
		s.common(s.name(fields, &seen), u)
	}
}

func partFields(name []byte) fieldSet {
	switch string(name) {
	case "type":
		return fType
	case "delta":
		return fDelta
	case "item_id":
		return fIgnored
	case "sequence_number":
		return fIgnored2
	case "content_index":
		return fIgnored3
	case "obfuscation":
		return fIgnored4
	case "output_index":
		return fIndex
	case "logprobs":
		return fEmptyList
	}
	return 0
}

// usualPart reads a piece of the text of a responses stream. Only its type
// tells what it is, and it comes first.
func (s *scan) usualPart(u *usualEvent) {
	var seen fieldSet
	s.take('{')
	for s.more(seen == 0, '}') {
		switch f := s.name(partFields, &seen); f {
		case fType:
			s.refuse(string(s.text()) != "response.output_text.delta")
		case fDelta:
			u.parts[0] = s.part()
		case fIndex:
			s.index()
		case fEmptyList:
			s.take('[')
			s.take(']')
		default:
			s.common(f, u)
		}
	}
	s.refuse(seen&fType == 0)
}
