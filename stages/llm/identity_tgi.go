package llm

// tgiSettings are what TGI says of its router that is set by whoever starts it.
// What it works out from the free memory (max_batch_total_tokens) is left out.
var tgiSettings = []string{"max_input_tokens", "max_input_length", "max_concurrent_requests", "max_batch_size", "max_best_of", "max_stop_sequences"}

// readTGI reads /info. The same page of an embedding server has no limit of
// input and output together.
func readTGI(doc []byte, id *Identity) bool {
	all := object(doc)
	router := all.text("router")
	if all.text("model_id") == "" || all.length("max_total_tokens") == 0 || router != "" && router != "text-generation-router" {
		return false
	}
	id.EngineName = engineTGI
	set(&id.EngineVersion, all.text("version"))
	set(&id.EngineImage, all.text("docker_label"))
	id.loaded(text(all["model_id"]))
	set(&id.Revision, immutable(text(all["model_sha"])))
	set(&id.ContextLength, all.length("max_total_tokens"))
	set(&id.Dtype, torchType(all.text("model_dtype")))
	id.setting(all.pick(tgiSettings...))
	if sha := all.text("sha"); sha != "" {
		id.setting(map[string]string{"engine_commit": sha})
	}
	return true
}
