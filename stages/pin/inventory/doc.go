// Package inventory lists the files of a model, computes the digest that stands
// for all of them, and holds a folder against such a list. It opens no
// connections and never looks at times: a file is what its bytes are.
package inventory
