package scrub

import (
	"slices"
	"strings"
)

// Words before a number that say what it is. A number without a check digit is
// ambiguous: 234-567-8901 is a phone number, unless it is an order.
var (
	phoneCues = []string{"phone", "telephone", "tel", "mobile", "cell", "cellphone", "fax", "whatsapp", "sms",
		"fon", "tlf", "gsm", "telefon", "telefonnummer", "rufnummer", "handy", "handynummer", "mobil", "mobilnummer",
		"tél", "téléphone", "celular", "telephon", "portable", "teléfono", "telefono", "móvil", "movil", "cellulare"}
	ssnCues   = []string{"ssn", "ssns", "itin"}
	orderCues = []string{"order", "orders", "invoice", "ticket", "tracking", "sku", "isbn", "issn", "ean", "upc", "ref",
		"reference", "serial", "part", "article", "case", "shipment", "parcel", "po", "rma", "version",
		"bestellung", "bestellnummer", "auftrag", "auftragsnummer", "rechnung", "rechnungsnummer", "artikel",
		"artikelnummer", "sendung", "sendungsnummer", "vorgang", "commande", "facture", "pedido", "factura"}
	versionCues = []string{"version", "ver", "v", "release", "build", "firmware", "rev", "revision", "section", "chapter",
		"kapitel", "abschnitt", "clause", "oid"}
	// countWords may stand between a cue and its number.
	countWords = []string{"number", "numbers", "num", "no", "nr", "nummer", "id", "code", "is", "numéro", "número"}
)

// Lookback is how far before a number a cue may stand, in bytes.
const lookback = 40

// wordsBefore returns up to three words that stand before lo in the same clause,
// lower case, the nearest first.
func wordsBefore(s string, lo int) []string {
	from := max(0, lo-lookback)
	before := s[from:lo]
	if i := strings.LastIndexAny(before, "\n\r,;!?0123456789"); i >= 0 {
		before = before[i+1:]
	} else if from > 0 {
		_, before, _ = strings.Cut(before, " ") // half a word is none
	}
	var out []string
	for hi := len(before); hi > 0 && len(out) < 3; {
		for hi > 0 && !isLetter(before[hi-1]) {
			hi--
		}
		word := hi
		for word > 0 && isLetter(before[word-1]) {
			word--
		}
		if word < hi {
			out = append(out, strings.ToLower(before[word:hi]))
		}
		hi = word
	}
	return out
}

func isLetter(c byte) bool { return isAlpha(c) || c >= 0x80 }

// saysPhone reports whether one of the last words is a phone cue.
func saysPhone(s string, lo int) bool {
	words := wordsBefore(s, lo)
	for i, w := range words {
		if slices.Contains(phoneCues, w) || strings.HasSuffix(w, "电话") || strings.HasSuffix(w, "手机") || strings.HasSuffix(w, "電話") {
			return true
		}
		if i+1 < len(words) && slices.Contains([]string{"me", "us", "him", "her"}, w) && slices.Contains([]string{"call", "reach", "ring"}, words[i+1]) {
			return true
		}
	}
	return false
}

// says reports whether the word directly before lo is one of cues; words such
// as "number" may stand between.
func says(s string, lo int, cues []string) bool {
	for _, w := range wordsBefore(s, lo) {
		if slices.Contains(cues, w) {
			return true
		}
		if !slices.Contains(countWords, w) {
			return false
		}
	}
	return false
}

// saysOrder reports whether the number is said to be an order's or the like.
func saysOrder(s string, lo int) bool {
	return at(s, lo-1) == '#' || says(s, lo, orderCues)
}

// hint is what the name of a JSON member says of its value.
type hint struct {
	cue    string // "phone" for phone_number and customerPhone, "" for most
	secret secretKind
}

func hintOf(name string) hint {
	if len(name) > lookback {
		return hint{}
	}
	for _, w := range nameWords(name) {
		for _, cues := range [][]string{phoneCues, ssnCues, orderCues, versionCues} {
			if slices.Contains(cues, w) {
				return hint{cue: w}
			}
		}
	}
	return hint{secret: secretMember(name)}
}

// nameWords splits snake_case, kebab-case and camelCase.
func nameWords(name string) []string {
	var spaced strings.Builder
	for i := range len(name) {
		c := name[i]
		if isUpper(c) && i > 0 && isLower(name[i-1]) {
			spaced.WriteByte(' ')
		}
		if !isLetter(c) {
			c = ' '
		}
		spaced.WriteByte(c)
	}
	return strings.Fields(strings.ToLower(spaced.String()))
}
