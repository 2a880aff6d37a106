// Package hub gets the files of a model from a server that speaks the HTTP API
// of the Hugging Face hub: exactly one commit, every file checked against the
// size and hash that the hub lists for it, nothing under its name before that.
//
// That a commit has these files is the hub's word. What is checked is that the
// files are those which the hub lists.
package hub
