package main

import (
	"encoding/binary"
	"math"

	"github.com/cupel-dev/cupel/stages/hardware"
)

// The types of the value of a field, nvmlValueType_t.
const (
	typeDouble = iota
	typeUint
	typeUlong
	typeUlonglong
	typeLonglong
	typeInt
	typeUshort
)

// decode reads the eight bytes of a field's value as its type says. A value that no
// counter, power or temperature has gets a reason code.
func decode(kind uint32, raw [8]byte) (v int64, code string) {
	n := binary.NativeEndian.Uint64(raw[:])
	switch kind {
	case typeDouble:
		f := math.Round(math.Float64frombits(n))
		if !(f >= 0 && f < 1<<62) {
			return 0, hardware.Implausible
		}
		return int64(f), ""
	case typeUint:
		return int64(binary.NativeEndian.Uint32(raw[:4])), ""
	case typeUlong, typeUlonglong, typeLonglong: // long has eight bytes where NVML runs
		return counted(n)
	case typeInt:
		return counted(uint64(int64(int32(binary.NativeEndian.Uint32(raw[:4])))))
	case typeUshort:
		return int64(binary.NativeEndian.Uint16(raw[:2])), ""
	default:
		return 0, hardware.Implausible
	}
}

// counted takes a number of NVML; negative ones look enormous here.
func counted(n uint64) (v int64, code string) {
	if n >= 1<<62 {
		return 0, hardware.Implausible
	}
	return int64(n), ""
}

// bounds are the greatest values that can be true. They are far beyond any machine,
// and far below what stands in memory that nobody wrote.
var bounds = map[string]int64{
	"mJ": 1 << 62, "ns": 1 << 62,
	"mW": 100_000_000, // 100 kW
	"C":  250,
}
