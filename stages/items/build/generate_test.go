package build

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/cupel-dev/cupel/stages/items/scrub"
)

func offRule(name string) scrub.Options { return scrub.Options{Off: []string{name}} }

// logs generates log lines: about 480 bytes each, one in ten asked before, one in
// twenty asked before in other words, one in five with personal data.
type logs struct {
	n, of int
	rest  []byte
	state uint64
}

func newLogs(n int) *logs { return &logs{of: n, state: 1} }

var vocabulary = strings.Fields(`account address answer balance board branch budget building cancel careful certain change charge
city claim client close coffee colour company complaint compare contract cost country create customer damage deadline deliver
department describe design detail discount document draft early email engine error estimate evening example explain export factory
family feature figure final find garden give green group hardware help history holiday hotel house idea import improve increase
invoice issue item journey kitchen language large letter list machine manager market meeting message method minute model money
month morning mountain network number office offer order package paint paper part partner payment people phone plan point policy
position price problem process product project proposal purchase quality question quick reason receipt record refund region
release remind repair reply report request result return review river road room sale sample schedule season section send sentence
service ship short size small software station stock store story street strong student summary support system table task team
term ticket time today total town train travel update value vehicle version village visit warehouse water weather week window
winter word work year yellow young zone`)

func (l *logs) rnd(n int) int {
	l.state += 0x9e3779b97f4a7c15
	z := l.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

func (l *logs) words(seed, n int) string {
	old := l.state
	l.state = uint64(seed) * 0xd1342543de82ef95
	var b strings.Builder
	for range n {
		b.WriteString(vocabulary[l.rnd(len(vocabulary))])
		b.WriteByte(' ')
	}
	l.state = old
	return b.String()
}

func (l *logs) line() []byte {
	i := l.n
	l.n++
	seed, tail := i, ""
	switch k := l.rnd(20); {
	case k < 2:
		seed = l.rnd(i + 1)
	case k < 3:
		seed, tail = l.rnd(i+1), " please"
	case k < 7:
		tail = fmt.Sprintf(" write to user%d@example.org or +49 30 %07d", l.rnd(1e6), l.rnd(1e7))
	}
	ts := time.Unix(1700000000+int64(l.rnd(90*24*3600)), 0).UTC().Format(time.RFC3339)
	return fmt.Appendf(nil, `{"id":"req-%08d","model":"m","created_at":%q,"messages":[{"role":"system","content":"You are a helpful assistant of the shop."},{"role":"user","content":%q}],"temperature":0}`+"\n",
		i, ts, l.words(seed, 40)+tail)
}

func (l *logs) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if l.n == l.of {
			return 0, io.EOF
		}
		l.rest = l.line()
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func mustRead(t testing.TB, r io.Reader) []byte {
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
