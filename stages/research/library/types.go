// Package library keeps imported benchmark tables as folders that belong into
// git: what the source said, byte for byte, the rows that were read from it, and
// what was not read.
//
//	DIR/<source>/source.json           what it is, and every version of it
//	DIR/<source>/snapshot-<hash>.<ext> the bytes, by their SHA-256
//	DIR/<source>/rows-<hash>.jsonl     the rows, by the SHA-256 of that file
//	DIR/<source>/skipped-<hash>.jsonl  what was not read, with line and reason
//
// Files but source.json are never written twice. source.json is replaced in one
// step under a lock on the folder, and grows only: a version is never removed.
package library

import (
	"github.com/cupel-dev/cupel/engine/step"
	"github.com/cupel-dev/cupel/stages/prior/table"
)

// Schema names the format of source.json.
const Schema = "cupel/research-source/v1"

// Source is source.json.
type Source struct {
	Schema    string    `json:"schema"`
	ID        string    `json:"id"`
	Kind      string    `json:"kind"` // as in a campaign
	URL       string    `json:"url"`
	Publisher string    `json:"publisher,omitempty"`
	OwnsFact  bool      `json:"owns_fact,omitempty"`
	Versions  []Version `json:"versions"` // oldest first
}

// Version is what the source said once, and how it was read.
type Version struct {
	ObservedOn  string            `json:"observed_on"`
	PublishedOn string            `json:"published_on,omitempty"`
	Snapshot    File              `json:"snapshot"`
	Format      string            `json:"format"`
	FinalURL    string            `json:"final_url,omitempty"`    // that answered, after redirects; of a fetched one
	ContentType string            `json:"content_type,omitempty"` // of a fetched one
	Map         map[string]string `json:"map,omitempty"`
	Set         map[string]string `json:"set,omitempty"`
	Rows        File              `json:"rows"`
	Skipped     *File             `json:"skipped"` // nil = everything was read
}

// File is a file beside source.json.
type File struct {
	Name   string      `json:"name"`
	Digest step.Digest `json:"sha256"`
	Size   int64       `json:"bytes"`
	Lines  int         `json:"lines,omitempty"` // of rows and of what was skipped
}

// Latest is the newest version.
func (s *Source) Latest() Version { return s.Versions[len(s.Versions)-1] }

// Import is one thing to keep.
type Import struct {
	ID, Kind, URL, Publisher string
	OwnsFact                 bool
	ObservedOn, PublishedOn  string
	Format, Ext              string // Ext with its dot, of the snapshot's name
	FinalURL, ContentType    string
	Bytes                    []byte
	table.Options
}

// Result is what an import came to.
type Result struct {
	Source   Source
	Rows     []table.Row
	Problems []table.Problem
	State    string // new | version | unchanged
}

// States of a result.
const (
	New       = "new"
	Another   = "version"
	Unchanged = "unchanged"
)
