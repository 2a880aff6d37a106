package gen

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cupel-dev/cupel/stages/items"
)

// Plans are checked here from what the question says, by other means than those
// with which they were found; where all orders can be tried, all that work are
// in the item.
func TestPlans(t *testing.T) {
	checks := map[string]func(*testing.T, string) func(order []string) bool{"order": holdsRules, "machine": inTime}
	for _, it := range build(t, "planning").Items {
		text, kind := it.Input[0].Content, it.Strata["kind"]
		switch kind {
		case "schedule":
			checkSchedule(t, it.ID, text, it.Answer)
		case "blocks":
			checkBlocks(t, &it)
		default:
			var valid [][]string
			read(t, it.Schema, &struct{ Enum *[][]string }{&valid})
			checkOrders(t, it.ID, valid, checks[kind](t, text))
		}
	}
}

func read(t *testing.T, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func checkOrders(t *testing.T, id string, valid [][]string, works func([]string) bool) {
	for _, order := range valid {
		if !works(order) {
			t.Errorf("%s: %v does not work", id, order)
		}
	}
	if len(valid[0]) > 7 {
		return
	}
	n := 0
	permute(valid[0], func(order []string) { n += boolInt(works(order)) })
	if n != len(valid) {
		t.Errorf("%s: %d orders work, the item has %d", id, n, len(valid))
	}
}

func permute(list []string, f func([]string)) {
	var rec func(i int)
	list = slices.Clone(list)
	rec = func(i int) {
		if i == len(list) {
			f(list)
		}
		for j := i; j < len(list); j++ {
			list[i], list[j] = list[j], list[i]
			rec(i + 1)
			list[i], list[j] = list[j], list[i]
		}
	}
	rec(0)
}

var beforeForms = regexp.MustCompile(`(?m)^- (?:Finish (\w+) before you begin (\w+)|(\w+) (?:must be done before|comes earlier than) (\w+))\.$`)

func holdsRules(t *testing.T, text string) func([]string) bool {
	rules := beforeForms.FindAllStringSubmatch(text, -1)
	if len(rules) != strings.Count(text, "\n- ") {
		t.Fatalf("%d rules were understood in\n%s", len(rules), text)
	}
	return func(order []string) bool {
		for _, r := range rules {
			if slices.Index(order, r[1]+r[3]) > slices.Index(order, r[2]+r[4]) {
				return false
			}
		}
		return true
	}
}

var jobForm = regexp.MustCompile(`(?m)^- (\w+): takes (\d+), earliest start (\d+), deadline (\d+)$`)

func inTime(_ *testing.T, text string) func([]string) bool {
	jobs := map[string][3]int{}
	for _, m := range jobForm.FindAllStringSubmatch(text, -1) {
		jobs[m[1]] = [3]int{integer(m[2]), integer(m[3]), integer(m[4])}
	}
	return func(order []string) bool {
		at := 0
		for _, name := range order {
			j, ok := jobs[name]
			if !ok || at < j[1] || at+j[0] > j[2] {
				return false
			}
			at += j[0]
		}
		return len(order) == len(jobs)
	}
}

func integer(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

var taskForm = regexp.MustCompile(`(?m)^- (\w+) takes (\d+) minutes and waits for (\w+)(?: and (\w+))?\.$`)

func checkSchedule(t *testing.T, id, text string, answer []byte) {
	var starts map[string]int
	read(t, answer, &starts)
	takes := map[string]int{}
	tasks := taskForm.FindAllStringSubmatch(text, -1)
	for _, m := range tasks {
		takes[m[1]] = integer(m[2])
	}
	if len(tasks) != len(starts) {
		t.Errorf("%s: %d jobs, %d answers", id, len(tasks), len(starts))
	}
	for _, m := range tasks {
		want := 0
		for _, on := range m[3:] {
			if on != "" && on != "nothing" {
				want = max(want, starts[on]+takes[on])
			}
		}
		if starts[m[1]] != want {
			t.Errorf("%s: %s starts at %d, want %d", id, m[1], starts[m[1]], want)
		}
	}
}

var standing = regexp.MustCompile(`(\w) is on (the table|\w)`)

// worldOf reads "A is on the table, B is on A".
func worldOf(line string) map[string]string {
	on := map[string]string{}
	for _, m := range standing.FindAllStringSubmatch(line, -1) {
		on[m[1]] = strings.TrimPrefix(m[2], "the ")
	}
	return on
}

func checkBlocks(t *testing.T, it *items.Item) {
	text := it.Input[0].Content
	_, rest, _ := strings.Cut(text, "\nNow: ")
	now, rest, _ := strings.Cut(rest, "\nGoal: ")
	goal, rest, _ := strings.Cut(rest, "\n")
	var plans [][][2]string
	read(t, it.Schema, &struct{ Enum *[][][2]string }{&plans})
	for _, plan := range plans {
		on := worldOf(now)
		for _, m := range plan {
			for block, below := range on {
				if below == m[0] || m[1] != "table" && below == m[1] {
					t.Errorf("%s: %v: %s stands in the way", it.ID, m, block)
				}
			}
			on[m[0]] = m[1]
		}
		for block, below := range worldOf(goal) {
			if on[block] != below {
				t.Errorf("%s: %s ends on %s", it.ID, block, on[block])
			}
		}
		if !strings.Contains(rest, "which is "+strconv.Itoa(len(plan))+".") {
			t.Errorf("%s: a plan of %d moves: %s", it.ID, len(plan), rest)
		}
	}
}
