package prompts

import "math/bits"

const (
	mtSize   = 624
	mtPeriod = 397
)

// mt is the Mersenne Twister MT19937 as CPython's random.Random uses it, so
// that seeded plans and answers are the same to the bit. Source: Matsumoto and
// Nishimura, mt19937ar.c (2002), and CPython's _randommodule.c.
type mt struct {
	state [mtSize]uint32
	at    int
}

// newMT seeds by the absolute value, as CPython does with an int.
func newMT(seed int64) *mt {
	abs := uint64(seed)
	if seed < 0 {
		abs = -abs
	}
	key := []uint32{uint32(abs)}
	if high := uint32(abs >> 32); high != 0 {
		key = append(key, high)
	}
	m := &mt{at: mtSize}
	m.initByArray(key)
	return m
}

func (m *mt) init(seed uint32) {
	m.state[0] = seed
	for i := uint32(1); i < mtSize; i++ {
		prev := m.state[i-1]
		m.state[i] = 1812433253*(prev^prev>>30) + i
	}
}

func (m *mt) initByArray(key []uint32) {
	m.init(19650218)
	i, j := uint32(1), uint32(0)
	step := func() {
		if i++; i >= mtSize {
			m.state[0], i = m.state[mtSize-1], 1
		}
	}
	mixed := func(factor uint32) uint32 {
		prev := m.state[i-1]
		return m.state[i] ^ (prev^prev>>30)*factor
	}
	for range max(mtSize, len(key)) {
		m.state[i] = mixed(1664525) + key[j] + j
		step()
		if j++; int(j) >= len(key) {
			j = 0
		}
	}
	for range mtSize - 1 {
		m.state[i] = mixed(1566083941) - i
		step()
	}
	m.state[0] = 1 << 31
}

func (m *mt) twist() {
	for i := range mtSize {
		y := m.state[i]&(1<<31) | m.state[(i+1)%mtSize]&(1<<31-1)
		m.state[i] = m.state[(i+mtPeriod)%mtSize] ^ y>>1 ^ -(y&1)&0x9908b0df
	}
	m.at = 0
}

// uint32 returns the next 32 random bits.
func (m *mt) uint32() uint32 {
	if m.at >= mtSize {
		m.twist()
	}
	y := m.state[m.at]
	m.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// float64 returns random.random(): 53 bits, in [0, 1).
func (m *mt) float64() float64 {
	a, b := m.uint32()>>5, m.uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

// bits returns random.getrandbits(k) for k from 1 to 64.
func (m *mt) bits(k int) uint64 {
	if k <= 32 {
		return uint64(m.uint32() >> (32 - k))
	}
	low := uint64(m.uint32())
	return low | uint64(m.uint32()>>(64-k))<<32
}

// between returns random.randrange(low, high).
func (m *mt) between(low, high int64) int64 {
	n := uint64(high - low)
	k := bits.Len64(n)
	for {
		if r := m.bits(k); r < n {
			return low + int64(r)
		}
	}
}
