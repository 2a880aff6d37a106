// Package foreign reads the answers that other tools stored, so that they can
// be scored without asking a model again.
//
// A reader is a pure function of the bytes. It tells formats apart by content,
// never by file name; keeps the tool's own scores beside the answer, never in
// its place; and reports what the format cannot tell, such as why an answer
// ended. What it does not understand is an error that names the row: a row that
// is left out quietly would raise the mean.
//
// Files are taken for hostile: lines, archive entries, their number and what
// they unpack to are bounded, names that leave the archive or stand twice are
// refused, and nothing is written to disk.
package foreign
