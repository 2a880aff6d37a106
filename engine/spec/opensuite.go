package spec

// OpenSuite resolves a suite as a campaign in dir does: a folder with
// suite.json, whose digest and count must hold, or one .jsonl file.
func OpenSuite(dir, name string) (Suite, error) { return openSuite(dir, name) }
