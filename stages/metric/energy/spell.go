package energy

// Spelled lists the bases and how rules and histories write them, where a name has
// neither dots nor plus signs.
var Spelled = []struct{ Base, Name string }{
	{"nv.gpu", "nv_gpu"},
	{"nv.module", "nv_module"},
	{"nv.gpu+rapl.package+rapl.dram", "nv_gpu_rapl"},
	{"nv.gpu+rapl.package", "nv_gpu_rapl_package"},
	{"rapl.package+rapl.dram", "rapl"},
	{"rapl.package", "rapl_package"},
	{"amd.gpu", "amd_gpu"},
	{"apple.soc5", "apple_soc5"},
	{"apple.gpu", "apple_gpu"},
	{"wall", "wall"},
}

// Spell is how a base is written in a rule, "" for one that is not known.
func Spell(base string) string {
	for _, s := range Spelled {
		if s.Base == base {
			return s.Name
		}
	}
	return ""
}

// BaseOf is the base that is written so, "" when none is.
func BaseOf(name string) string {
	for _, s := range Spelled {
		if s.Name == name {
			return s.Base
		}
	}
	return ""
}
