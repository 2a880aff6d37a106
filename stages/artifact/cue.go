package artifact

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
)

// knownCUE are the definitions of leaves by their Go type.
var knownCUE = map[reflect.Type]string{
	reflect.TypeFor[Text]():   "#KnownText",
	reflect.TypeFor[Number](): "#KnownNumber",
	reflect.TypeFor[Flag]():   "#KnownFlag",
	reflect.TypeFor[Texts]():  "#KnownTexts",
	reflect.TypeFor[Suites](): "#KnownSuites",
}

const headCUE = `package cupel

// #EvidenceFile is what cupel evidence import writes: the records of one file.
#EvidenceFile: {
	// The shape that the file was read as.
	format!: string
	records!: [#Evidence, ...#Evidence]
}

// #Evidence is everything that a publication says about one measurement. Each
// field is there, with a value or with the reason why there is none; a value
// that is not known is never 0. docs/evidence.md says what each means and which
// keep two measurements apart. This file is printed from stages/artifact.
#Evidence: {
	schema!: "cupel/evidence/v2"

	// Of a file with several.
	part?: string
	kind!: %s
	source!: {
		format!: string
		schema?: string
		sha256!: #Hex64
		bytes!:  int & >=0
	}
`

const tailCUE = `
	// What makes it no evidence, and what a reader should know, in words.
	invalid?: [...string]
	notes?: [...string]
}

// A value, or why there is none.
#KnownText: {value!: string} | {unknown!: #Text}
#KnownNumber: {value!: number} | {unknown!: #Text}
#KnownFlag: {value!: bool} | {unknown!: #Text}
#KnownTexts: {value!: [...string]} | {unknown!: #Text}
#KnownSuites: {value!: [...#EvidenceSuite]} | {unknown!: #Text}

// #EvidenceSuite is an item set. Without a content hash it has no identity.
#EvidenceSuite: {
	name!:      string
	sha256?:    string
	use?:       string
	validator?: string
}
`

// CUE prints schemas/evidence.cue from the types, so that the schema which is
// published is the one that the reader and the writer share.
func CUE() []byte {
	var b bytes.Buffer
	var kinds []string
	for _, k := range Kinds {
		kinds = append(kinds, fmt.Sprintf("%q", k))
	}
	fmt.Fprintf(&b, headCUE, strings.Join(kinds, " | "))
	t := reflect.TypeFor[Record]()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type.Kind() != reflect.Struct || f.Name == "Source" {
			continue
		}
		fmt.Fprintf(&b, "\t%s!: {\n", jsonName(f))
		for k := range f.Type.NumField() {
			leaf := f.Type.Field(k)
			fmt.Fprintf(&b, "\t\t%s!: %s\n", jsonName(leaf), knownCUE[leaf.Type])
		}
		b.WriteString("\t}\n")
	}
	b.WriteString(tailCUE)
	return b.Bytes()
}
