package loopback

import "testing"

func TestCPUTime(t *testing.T) {
	before := CPUTime()
	sum := 0
	for i := range 50_000_000 {
		sum += i ^ sum
	}
	if after := CPUTime(); before < 0 || after <= before || sum == 0 {
		t.Errorf("%d ns, then %d", before, after)
	}
}
