// Command wasi is built as WebAssembly by the tests: an interpreter of a
// language with one instruction a line, of which some try to break out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		answerLines()
		return
	}
	source, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(source)), "\n") {
		do(line)
	}
}

func do(line string) {
	what, arg, _ := strings.Cut(line, " ")
	switch what {
	case "print":
		fmt.Println(arg)
	case "read":
		b, err := os.ReadFile(arg)
		if err != nil {
			fail(err)
		}
		fmt.Printf("%s", b)
	case "write":
		if err := os.WriteFile(arg, []byte("written"), 0o644); err != nil {
			fail(err)
		}
	case "dial":
		if _, err := net.DialTimeout("tcp", arg, time.Second); err != nil {
			fail(err)
		}
	case "loop":
		for {
		}
	case "flood":
		for {
			fmt.Println(strings.Repeat("flood", 1000))
		}
	case "hog":
		var kept [][]byte
		for {
			kept = append(kept, make([]byte, 1<<20))
		}
	case "fail":
		fail(fmt.Errorf("as told"))
	case "trap":
		panic("as told")
	default:
		fail(fmt.Errorf("unknown instruction %q", what))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(3)
}

// answerLines scores: 1 for a text that is "yes".
func answerLines() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var q struct{ ID, Text string }
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fail(err)
		}
		value := 0
		if q.Text == "yes" {
			value = 1
		}
		fmt.Printf("{\"id\":%q,\"value\":%d,\"reason\":\"said %s\"}\n", q.ID, value, q.Text)
	}
}
