package prompts

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cupel-dev/cupel/engine/spec"
)

// TestBench: names, limits and size class are asiai's.
func TestBench(t *testing.T) {
	limits := map[string]int{"code": 512, "tool_call": 256, "reasoning": 384, "long_gen": 1024}
	var names []string
	for _, b := range Bench("", nil) {
		names = append(names, b.Name)
		words := len(strings.Fields(b.Text))
		if b.MaxTokens != limits[b.Name] || words < 23 || words > 40 || len(b.Text) < 156 || len(b.Text) > 281 || (b.Tools != nil) != (b.Name == "tool_call") {
			t.Errorf("%s: %d words, %d characters, at most %d tokens", b.Name, words, len(b.Text), b.MaxTokens)
		}
		x, y := mustBuild(t, b, 0), mustBuild(t, b, 1)
		if x.Text[:10] == y.Text[:10] || !strings.HasSuffix(x.Text, "] "+b.Text) || x.Group != b.Name || x.Length != words+1 {
			t.Errorf("%q, %q", x.Text, y.Text)
		}
	}
	if d := cmp.Diff(spec.BenchPrompts, names); d != "" {
		t.Error(d)
	}
	if two := Bench("", []string{"long_gen", "code"}); len(two) != 2 || two[0].Name != "long_gen" || BenchWarmup.MaxTokens != 32 {
		t.Errorf("%+v", two)
	}
	var tools []struct {
		Type     string
		Function struct {
			Name       string
			Parameters struct{ Required []string }
		}
	}
	if err := json.Unmarshal(trainTool, &tools); err != nil || len(tools) != 1 || tools[0].Type != "function" || len(tools[0].Function.Parameters.Required) != 2 {
		t.Errorf("%+v, %v", tools, err)
	}
}

func TestDegenerate(t *testing.T) {
	prose := "The keeper went up the stairs at nine and found the lamp cold. He trimmed the wick, filled the font, and lit it again before the fog came in. " +
		"By ten the whole bay was white and only the bell could be heard from the landing below."
	han := "灯塔看守人在九点钟上楼，发现灯已经冷了。他剪了灯芯，加满了油，在雾气到来之前重新点亮了它。到了十点，整个海湾都是白茫茫的一片，只能听到下面码头传来的钟声。他坐下来，写了一封长信给城里的妹妹。"
	for text, want := range map[string]string{
		"":                                DegenerateEmpty,
		" \n\t":                           DegenerateEmpty,
		"42":                              "",
		"yes":                             "",
		prose:                             "",
		han:                               "",
		strings.Repeat("好", 400):          DegenerateChars,
		strings.Repeat("ababab", 500):     DegenerateChars,
		strings.Repeat("我喜欢你", 100):       DegenerateChars,
		strings.Repeat("好", 59):           "",
		han + strings.Repeat("好。", 400):   DegenerateChars,
		strings.Repeat("the same ", 10):   DegenerateWords,
		strings.Repeat("The SAME ", 500):  DegenerateWords,
		strings.Repeat("the same ", 9):    "",
		prose + strings.Repeat(" no", 60): DegenerateWords,
		strings.Repeat("one two three four five ", 20):                                                                     DegenerateFew,
		strings.Repeat("第一行很长的文字没有空格也没有重复的地方吗？\n", 30):                                                                     DegenerateChars,
		"https://127.0.0.1/a/long/path/that/is/one/word/without/any/space?in=it&at=all":                                    "",
		"3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651": "",
	} {
		if got := Degenerate(text); got != want {
			t.Errorf("%.40q (%d): %q, want %q", text, len(text), got, want)
		}
	}
}
