package hardware

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-dev/cupel/engine/step"
)

// Identity is the part of a report that a result depends on: two machines with
// the same identity may stand for one another. It holds what kind of GPUs there
// are, and not which ones; docs/adr/0008-hardware.md says why. What is not known is
// absent, which is another identity than any value.
type Identity struct {
	GPUs   []Class `json:"gpus,omitempty"`
	Driver string  `json:"driver,omitempty"`
	CUDA   string  `json:"cuda,omitempty"`
	CPU    string  `json:"cpu,omitempty"` // model
	// Sockets and Cores are of the whole machine; 0 = not known.
	Sockets int `json:"sockets,omitempty"`
	Cores   int `json:"cores,omitempty"`
}

// Class is a number of GPUs that differ in nothing.
type Class struct {
	Count        int    `json:"count"` // MIG instances where the GPU is partitioned, else GPUs
	Name         string `json:"name,omitempty"`
	Architecture string `json:"architecture,omitempty"`
	Compute      string `json:"compute_capability,omitempty"`
	MemoryMiB    uint64 `json:"memory_mib,omitempty"` // of each
	PowerLimitMW uint32 `json:"power_limit_mw,omitempty"`
	MIG          string `json:"mig,omitempty"` // disabled, or the instance's profile, or enabled where none is known
	ECC          string `json:"ecc,omitempty"` // on | off
}

// Identity returns the identity of the machine with the GPUs of the report.
func (r *Report) Identity() Identity {
	id := Identity{CPU: deref(r.CPU.Model), Sockets: number(r.CPU.Sockets), Cores: number(r.CPU.Cores)}
	if len(r.GPUs) == 0 {
		return id // a driver without a GPU serves nothing
	}
	id.Driver, id.CUDA = deref(r.Driver), deref(r.CUDA)
	for i := range r.GPUs {
		for _, c := range r.GPUs[i].classes() {
			id.add(c)
		}
	}
	slices.SortFunc(id.GPUs, func(a, b Class) int { return cmp.Compare(a.order(), b.order()) })
	return id
}

// add counts a GPU to those that differ in nothing.
func (id *Identity) add(c Class) {
	for i, have := range id.GPUs {
		n := have.Count
		have.Count = c.Count
		if have == c {
			id.GPUs[i].Count = n + c.Count
			return
		}
	}
	id.GPUs = append(id.GPUs, c)
}

// classes are the GPU itself, or what it is cut into.
func (g *GPU) classes() []Class {
	c := Class{Count: 1, Name: deref(g.Name), Architecture: deref(g.Architecture), Compute: deref(g.Compute), PowerLimitMW: uint32(number(g.PowerLimit)), ECC: onOff(g.ECC)}
	if g.Memory != nil {
		c.MemoryMiB = *g.Memory >> 20
	}
	if g.MIG == nil || !*g.MIG {
		if g.MIG != nil {
			c.MIG = "disabled"
		}
		return []Class{c}
	}
	c.MIG = "enabled"
	if len(g.Instances) == 0 {
		return []Class{c}
	}
	var out []Class
	for _, m := range g.Instances {
		slice := c
		slice.MIG, slice.MemoryMiB = m.Profile(), 0
		if m.Memory != nil {
			slice.MemoryMiB = *m.Memory >> 20
		}
		out = append(out, slice)
	}
	return out
}

// Profile is the last word of an instance's name, such as 1g.10gb; "enabled"
// where the name does not end like that.
func (m MIG) Profile() string {
	if _, p, ok := strings.Cut(deref(m.Name), " MIG "); ok && Text(p) {
		return strings.TrimSpace(p)
	}
	return "enabled"
}

// order sorts classes by their JSON, so that the order of the GPUs on the bus is
// no part of an identity.
func (c Class) order() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic("hardware: a class is plain data: " + err.Error())
	}
	return string(b)
}

// Count is how many GPUs, or MIG instances, there are.
func (id Identity) Count() (n int) {
	for _, c := range id.GPUs {
		n += c.Count
	}
	return n
}

// Digest is that of the identity's canonical JSON.
func (id Identity) Digest() (step.Digest, error) {
	b, err := json.Marshal(id)
	if err != nil {
		return step.Digest{}, err
	}
	if b, err = step.Canonical(b); err != nil {
		return step.Digest{}, fmt.Errorf("hardware identity: %w", err)
	}
	return step.Sum(b), nil
}

func number[N int | uint32](n *N) int {
	if n == nil {
		return 0
	}
	return int(*n)
}

func onOff(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "on"
	}
	return "off"
}
