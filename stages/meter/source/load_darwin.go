package source

import "golang.org/x/sys/unix"

// sysctlLoad asks macOS for the load average. Not run on a Mac yet.
var sysctlLoad = func() (int64, string) {
	b, err := unix.SysctlRaw("vm.loadavg")
	if err != nil {
		return 0, codeOf(err)
	}
	return loadavg(b)
}
