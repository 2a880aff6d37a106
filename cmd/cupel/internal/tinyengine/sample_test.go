package tinyengine

import (
	"math"
	"testing"
)

func TestArgmax(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		logits []float32
		want   int32
	}{{[]float32{1, 3, 3, 2}, 1}, {[]float32{nan, -5, nan}, 1}, {[]float32{nan, nan}, 0}, {[]float32{float32(math.Inf(-1))}, 0}} {
		if got := argmax(c.logits); got != c.want {
			t.Errorf("%v: %d, want %d", c.logits, got, c.want)
		}
	}
}

// TestSampler counts draws against softmax(logits/temperature) within the
// nucleus.
func TestSampler(t *testing.T) {
	logits := []float32{0, float32(math.Log(2)), float32(math.Log(5)), float32(math.Log(2))}
	for _, c := range []struct {
		temperature, topP float64
		want              []float64
	}{
		{1, 1, []float64{0.1, 0.2, 0.5, 0.2}},
		{0.5, 1, []float64{1. / 34, 4. / 34, 25. / 34, 4. / 34}},
		{1, 0.7, []float64{0, 2. / 7, 5. / 7, 0}}, // the tie goes to the lower id
		{1, 0.71, []float64{0, 2. / 9, 5. / 9, 2. / 9}},
		{1, 1e-9, []float64{0, 0, 1, 0}},
		{0, 1, []float64{0, 0, 1, 0}},
	} {
		const n = 40000
		s := newSampler(c.temperature, c.topP, 12)
		count := make([]int, len(logits))
		for range n {
			count[s.next(logits)]++
		}
		for i, w := range c.want {
			got := float64(count[i]) / n
			if math.Abs(got-w) > 4*math.Sqrt(w*(1-w)/n) {
				t.Errorf("temperature %v top_p %v: token %d drawn with %.4f, want %.4f", c.temperature, c.topP, i, got, w)
			}
		}
	}
}

func TestSamplerSeeds(t *testing.T) {
	logits := make([]float32, 100)
	draw := func(seed uint64) (out [8]int32) {
		s := newSampler(1, 1, seed)
		for i := range out {
			out[i] = s.next(logits)
		}
		return out
	}
	if draw(1) != draw(1) {
		t.Error("the same seed drew different tokens")
	}
	if draw(1) == draw(2) {
		t.Error("two seeds drew the same tokens")
	}
	broken := []float32{float32(math.NaN()), 1, float32(math.Inf(1))}
	if got := newSampler(1, 0.9, 1).next(broken); got != 2 {
		t.Errorf("broken logits: %d, want the largest", got)
	}
}
