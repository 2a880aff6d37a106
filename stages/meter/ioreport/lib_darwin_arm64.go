package ioreport

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The calls into macOS. NOT TESTED: it compiles and vets, and was not run on a Mac.

const (
	ioreportPath   = "/usr/lib/libIOReport.dylib" // in the shared cache; there need not be a file
	foundationPath = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"
	systemPath     = "/usr/lib/libSystem.B.dylib"

	utf8 = 0x08000100 // kCFStringEncodingUTF8
)

// library holds the functions that are called. References are uintptr: they are
// Core Foundation's, and the garbage collector has no business with them.
type library struct {
	copyChannels  func(group, subgroup uintptr, a, b, c uint64) uintptr
	subscribe     func(zero, channels uintptr, subscribed *uintptr, id uint64, none uintptr) uintptr
	createSamples func(subscription, subscribed, none uintptr) uintptr
	simpleValue   func(channel uintptr, index int32) int64
	channelName   func(channel uintptr) uintptr
	unitLabel     func(channel uintptr) uintptr

	release     func(uintptr)
	typeOf      func(uintptr) uint64
	makeString  func(allocator uintptr, s string, encoding uint32) uintptr
	getString   func(s uintptr, buf *byte, size int64, encoding uint32) uint8
	dictGet     func(dict, key uintptr) uintptr
	dictCopy    func(allocator uintptr, capacity int64, dict uintptr) uintptr
	dictSet     func(dict, key, value uintptr)
	arrayType   func() uint64
	arrayCount  func(array uintptr) int64
	arrayAt     func(array uintptr, index int64) uintptr
	arrayMake   func(allocator uintptr, capacity int64, callbacks uintptr) uintptr
	arrayAppend func(array, value uintptr)
	dataType    func() uint64
	dataLength  func(data uintptr) int64
	dataBytes   func(data uintptr) unsafe.Pointer

	absoluteTime func() uint64
	timebase     func(*ticks) int32

	notifyRegister func(name string, token *int32) uint32
	notifyState    func(token int32, state *uint64) uint32
	notifyCancel   func(token int32) uint32

	arrayCallbacks uintptr // kCFTypeArrayCallBacks
}

// load looks every symbol up before anything is called: a missing one would end the
// process.
func load() (*library, error) {
	l := &library{}
	for _, of := range []struct {
		path  string
		calls map[string]any
	}{
		{ioreportPath, map[string]any{
			"IOReportCopyChannelsInGroup": &l.copyChannels, "IOReportCreateSubscription": &l.subscribe, "IOReportCreateSamples": &l.createSamples,
			"IOReportSimpleGetIntegerValue": &l.simpleValue, "IOReportChannelGetChannelName": &l.channelName, "IOReportChannelGetUnitLabel": &l.unitLabel,
		}},
		{foundationPath, map[string]any{
			"CFRelease": &l.release, "CFGetTypeID": &l.typeOf, "CFStringCreateWithCString": &l.makeString, "CFStringGetCString": &l.getString,
			"CFDictionaryGetValue": &l.dictGet, "CFDictionaryCreateMutableCopy": &l.dictCopy, "CFDictionarySetValue": &l.dictSet,
			"CFArrayGetTypeID": &l.arrayType, "CFArrayGetCount": &l.arrayCount, "CFArrayGetValueAtIndex": &l.arrayAt,
			"CFArrayCreateMutable": &l.arrayMake, "CFArrayAppendValue": &l.arrayAppend,
			"CFDataGetTypeID": &l.dataType, "CFDataGetLength": &l.dataLength, "CFDataGetBytePtr": &l.dataBytes,
		}},
		{systemPath, map[string]any{
			"mach_absolute_time": &l.absoluteTime, "mach_timebase_info": &l.timebase,
			"notify_register_check": &l.notifyRegister, "notify_get_state": &l.notifyState, "notify_cancel": &l.notifyCancel,
		}},
	} {
		handle, err := purego.Dlopen(of.path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", of.path, err)
		}
		if err := bind(handle, of.calls); err != nil {
			return nil, err
		}
		if of.path == foundationPath {
			if l.arrayCallbacks, err = purego.Dlsym(handle, "kCFTypeArrayCallBacks"); err != nil {
				return nil, &missingSymbol{"kCFTypeArrayCallBacks"}
			}
		}
	}
	return l, nil
}

// missingSymbol is a function that this macOS does not have.
type missingSymbol struct{ name string }

func (m *missingSymbol) Error() string { return "no " + m.name }

func bind(handle uintptr, calls map[string]any) error {
	for name, call := range calls {
		symbol, err := purego.Dlsym(handle, name)
		if err != nil || symbol == 0 {
			return &missingSymbol{name}
		}
		purego.RegisterFunc(call, symbol)
	}
	return nil
}

// text copies a CFString; "" when there is none, or it is very long.
func (l *library) text(s uintptr) string {
	if s == 0 {
		return ""
	}
	var buf [128]byte
	if l.getString(s, &buf[0], int64(len(buf)), utf8) == 0 {
		return ""
	}
	for i, b := range buf {
		if b == 0 {
			return string(buf[:i])
		}
	}
	return ""
}

// items returns what the list of channels in a dictionary holds. The references live
// as long as the dictionary.
func (l *library) items(dict, key uintptr) []uintptr {
	array := l.dictGet(dict, key)
	if array == 0 || l.typeOf(array) != l.arrayType() {
		return nil
	}
	n := l.arrayCount(array)
	if n < 0 || n > maxListed {
		return nil
	}
	out := make([]uintptr, n)
	for i := range out {
		out[i] = l.arrayAt(array, int64(i))
	}
	return out
}

// maxListed bounds what is read of a list of channels: there are some 360.
const maxListed = 10_000

// bytes copies a CFData of a dictionary.
func (l *library) bytes(dict, key uintptr) []byte {
	data := l.dictGet(dict, key)
	if data == 0 || l.typeOf(data) != l.dataType() {
		return nil
	}
	n := l.dataLength(data)
	p := l.dataBytes(data)
	if p == nil || n <= 0 || n > 1<<16 {
		return nil
	}
	return append([]byte(nil), unsafe.Slice((*byte)(p), n)...)
}
