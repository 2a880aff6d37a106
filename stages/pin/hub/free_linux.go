package hub

import "syscall"

// freeBytes is the room that is left for this user where dir is.
func freeBytes(dir string) (int64, bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil || st.Bsize <= 0 || st.Blocks == 0 {
		return 0, false // some file systems do not say
	}
	const most = 1 << 62
	if st.Bavail > uint64(most/st.Bsize) {
		return most, true
	}
	return int64(st.Bavail) * st.Bsize, true
}
