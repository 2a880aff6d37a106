package prompts

import (
	"fmt"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// facts are what a context case hides in its text, and what it asks.
type facts struct {
	records  []string
	spread   bool // the records stand far apart
	question string
	want     string
}

// chain is how far apart the records of a spread case are, as shares of the
// text, from the case's position on.
var chain = [...]float64{0, 0.37, 0.73}

// newFacts draws the facts of a case. The draws and the answers are those of
// anvil's cases of the same names and seeds, as far as its published answers
// tell; the sentences are not.
func newFacts(name string, seed int64) (facts, error) {
	rng := newMT(seed)
	var keys [3]string
	for i := range keys {
		keys[i] = fmt.Sprintf("K%d", rng.between(1e11, 1e12-1))
	}
	switch name {
	case NativeNeedle:
		return needleFacts(keys), nil
	case NativeOrder:
		return orderFacts(keys), nil
	case NativeDistractor:
		return distractorFacts(keys), nil
	case NativeIdentifiers:
		return identifierFacts(rng), nil
	case NativeCrosslink:
		return crosslinkFacts(rng), nil
	}
	return facts{}, step.WithHint(fmt.Errorf("context case %q is not known", name), "use native-needle, native-order, native-distractor, native-identifiers or native-crosslink")
}

func needleFacts(keys [3]string) facts {
	return facts{
		records:  []string{"Note to the keeper: the ORCHID safe opens with " + keys[0] + "."},
		question: "With which value does the ORCHID safe open? Reply with that value and nothing else.",
		want:     keys[0],
	}
}

func orderFacts(keys [3]string) facts {
	f := facts{
		question: "Which values were read at the stations ALPHA, BETA and GAMMA? Reply with the three values in that order, joined by ' | ', and nothing else.",
		want:     strings.Join(keys[:], " | "),
	}
	for i, name := range [...]string{"ALPHA", "BETA", "GAMMA"} {
		f.records = append(f.records, "Reading at station "+name+": "+keys[i]+".")
	}
	return f
}

func distractorFacts(keys [3]string) facts {
	return facts{
		records: []string{
			"The retired ORCHID safe no. 1 used to open with " + keys[1] + ".",
			"The retired ORCHID safe no. 2 used to open with " + keys[2] + ".",
			"The ORCHID safe in use opens with " + keys[0] + ".",
		},
		question: "With which value does the ORCHID safe in use open? The retired ones do not count. Reply with that value and nothing else.",
		want:     keys[0],
	}
}

func identifierFacts(rng *mt) facts {
	name := fmt.Sprintf("Iris Valen-%d", rng.between(1000, 9999))
	id := uuid(rng)
	number := rng.between(1e10, 1e11-1)
	address := fmt.Sprintf("198.51.100.%d", rng.between(1, 255))
	symbol := fmt.Sprintf("resolve_orchid_%d", rng.between(10000, 99999))
	return facts{
		records: []string{fmt.Sprintf("Register entry ORCHID: holder %s, record %s, account number %d, host %s, function %s.", name, id, number, address, symbol)},
		question: "Copy the register entry ORCHID exactly into this form, and reply with nothing else: " +
			"NAME=<holder> | UUID=<record> | NUMBER=<account number> | IP=<host> | SYMBOL=<function>",
		want: fmt.Sprintf("NAME=%s | UUID=%s | NUMBER=%d | IP=%s | SYMBOL=%s", name, id, number, address, symbol),
	}
}

func crosslinkFacts(rng *mt) facts {
	owner := fmt.Sprintf("Mara Quill-%d", rng.between(1000, 9999))
	address := fmt.Sprintf("203.0.113.%d", rng.between(1, 255))
	symbol := fmt.Sprintf("commit_aster_%d", rng.between(10000, 99999))
	return facts{
		records: []string{
			"The work named ASTER is led by " + owner + ".",
			"Whatever " + owner + " leads runs on the host " + address + ".",
			"The host " + address + " calls the function " + symbol + ".",
		},
		spread: true,
		question: "Who leads ASTER, on which host does it run, and which function does that host call? Reply in this form and with nothing else: " +
			"ASTER -> <leader> -> <host> -> <function>",
		want: "ASTER -> " + owner + " -> " + address + " -> " + symbol,
	}
}

// uuid returns random.getrandbits(128) in the usual groups; its words come
// lowest first.
func uuid(rng *mt) string {
	var w [4]uint32
	for i := range w {
		w[3-i] = rng.uint32()
	}
	s := fmt.Sprintf("%08x%08x%08x%08x", w[0], w[1], w[2], w[3])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}
