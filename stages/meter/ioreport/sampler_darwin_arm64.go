package ioreport

import (
	"errors"

	"github.com/cupel-dev/cupel/stages/hardware"
)

// subscription is a sampler of IOReport. NOT TESTED on a Mac.
type subscription struct {
	l           *library
	listKey     uintptr // "IOReportChannels"
	elementsKey uintptr // "RawElements"
	channels    uintptr
	subscribed  uintptr
	id          uintptr
	at          map[string]int // channel name -> position among those chosen
	clock       ticks
	token       int32
	watching    bool // the thermal pressure
}

// all are the channels of the group, which the caller releases.
func (l *library) all() (dict uintptr, err error) {
	name := l.makeString(0, group, utf8)
	if name == 0 {
		return 0, errors.New("no memory for a string")
	}
	defer l.release(name)
	dict = l.copyChannels(name, 0, 0, 0, 0)
	if dict == 0 {
		return 0, errors.New("no channels in " + group)
	}
	return dict, nil
}

// list names the channels of a dictionary.
func (l *library) list(dict, key uintptr) (out []Channel) {
	for _, c := range l.items(dict, key) {
		out = append(out, Channel{l.text(l.channelName(c)), l.text(l.unitLabel(c))})
	}
	return out
}

// newSubscription subscribes to the chosen ones alone: a sample of all costs some
// milliseconds.
func newSubscription(l *library, dict, listKey uintptr, list []Channel, chosen []Chosen) (*subscription, error) {
	all := l.items(dict, listKey)
	wanted := l.arrayMake(0, 0, l.arrayCallbacks)
	s := &subscription{l: l, listKey: listKey, at: map[string]int{}}
	if wanted == 0 {
		return nil, errors.New("no memory for a list")
	}
	defer l.release(wanted)
	if len(all) != len(list) {
		return nil, errors.New("the list of channels changed")
	}
	for i, c := range chosen {
		l.arrayAppend(wanted, all[c.At])
		s.at[list[c.At].Name] = i
	}
	if s.channels = l.dictCopy(0, 0, dict); s.channels == 0 {
		return nil, errors.New("no copy of the channels")
	}
	l.dictSet(s.channels, listKey, wanted)
	if s.id = l.subscribe(0, s.channels, &s.subscribed, 0, 0); s.id == 0 || s.subscribed == 0 {
		l.release(s.channels)
		return nil, errors.New("IOReport does not let subscribe")
	}
	s.elementsKey = l.makeString(0, "RawElements", utf8)
	if l.timebase(&s.clock) != 0 {
		s.clock = ticks{}
	}
	s.watching = l.notifyRegister("com.apple.system.thermalpressurelevel", &s.token) == 0
	return s, nil
}

func (s *subscription) sample() ([]sampled, string) {
	dict := s.l.createSamples(s.id, s.subscribed, 0)
	if dict == 0 {
		return nil, hardware.NotReadable
	}
	defer s.l.release(dict)
	now := s.l.absoluteTime()
	out := make([]sampled, len(s.at))
	for i := range out {
		out[i].code = hardware.NotReadable
	}
	for _, c := range s.l.items(dict, s.listKey) {
		i, ok := s.at[s.l.text(s.l.channelName(c))]
		if !ok {
			continue
		}
		out[i] = sampled{value: s.l.simpleValue(c, 0)}
		if e, ok := readElement(s.l.bytes(c, s.elementsKey)); ok {
			out[i].age, out[i].aged = s.clock.age(now, e.stamp)
		}
	}
	return out, ""
}

func (s *subscription) pressure() (uint64, string) {
	if !s.watching {
		return 0, hardware.NotSupported
	}
	var level uint64
	if s.l.notifyState(s.token, &level) != 0 {
		return 0, hardware.NotReadable
	}
	return level, ""
}

func (s *subscription) close() error {
	if s.watching {
		s.l.notifyCancel(s.token)
	}
	for _, ref := range []uintptr{s.id, s.subscribed, s.channels, s.elementsKey, s.listKey} {
		if ref != 0 {
			s.l.release(ref)
		}
	}
	return nil
}
