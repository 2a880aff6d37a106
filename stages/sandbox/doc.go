// Package sandbox runs programs that nobody vouches for: the code that a model
// wrote, and scorers of users. It implements [score.Runner].
//
// A WebAssembly module runs inside this process, where it has memory, a clock
// that does not move, and the files that it was given. Anything else runs on
// Linux in namespaces of its own, through bubblewrap where it is installed:
// a read-only root with the system's libraries and one interpreter, private
// and bounded /tmp and /work, no network, no other processes, no capabilities,
// a filter over system calls, and limits on CPU time, memory, processes, file
// size, output and time on the clock. Whatever it leaves behind ends with it.
//
// Where neither works nothing is run: the caller gets the reason no-sandbox.
// What it does not defend against is a flaw of the kernel itself; a virtual
// machine around cupel does.
package sandbox
