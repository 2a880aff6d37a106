package metric

import "testing"

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1963: "1,963", 228898: "228,898", 1000000: "1,000,000", -100: "-100", -1963: "-1,963"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
