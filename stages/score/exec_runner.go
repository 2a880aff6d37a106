package score

import (
	"context"
	"fmt"
	"time"
)

// Runner runs the programs that scorers need. The scorers stay pure: what runs
// a program is handed to them, and stages/sandbox implements it.
type Runner interface {
	// Runtimes says what a result may depend on beside the program: language ->
	// version and digest of its interpreter, or "none", and "sandbox" -> "none"
	// where nothing can be run apart from the machine. It belongs into the key
	// of a step that scores with programs, and stays the same while the process
	// lives.
	Runtimes() map[string]string
	// Run runs p to its end. Reaching a limit is an outcome; an error means that
	// p was not run, or that nothing can be said of it. It may be called by
	// several goroutines.
	Run(ctx context.Context, p Program, stdin []byte) (Outcome, error)
	// Open starts p and keeps it, to be asked line by line. The caller closes
	// the session.
	Open(ctx context.Context, p Program) (Session, error)
}

// Session is a program that answers each line with one line.
type Session interface {
	// Ask writes line, which holds no line end, and returns the next line
	// without its end. After an error the session is of no use but to be closed.
	Ask(ctx context.Context, line []byte) ([]byte, error)
	// Close ends the program and all that it started.
	Close() error
}

// Program is what to run: a file pinned by its digest, the interpreter of a
// language with files, or a pinned file that the interpreter runs.
type Program struct {
	Language string // python, node, sh; "" = the file at Path is started itself
	Path     string // a WebAssembly module (WASI), an executable or, with Language, a script
	SHA256   string // of the file at Path: 64 hexadecimal digits
	Args     []string
	Files    []File // in the working directory, which is /work in a sandbox
	Trust    bool   // run in place, without a sandbox
	Limits   Limits
}

// File is a file that a program finds in its working directory.
type File struct {
	Name string // without a slash
	Data []byte
}

// Limits of one run; 0 = none, which a sandbox takes for its own default.
type Limits struct {
	CPU       time.Duration // of each process, whole seconds
	Wall      time.Duration // of a run, or of one line of a session
	Memory    int64         // bytes
	Output    int64         // bytes on each of stdout and stderr; of a session's line
	FileSize  int64         // bytes of one file, and of all of them together four times that
	Processes int           // threads are counted too
}

// Limit is the limit that ended a run, "" when it ended by itself.
type Limit string

// The limits.
const (
	LimitCPU       Limit = "cpu"
	LimitWall      Limit = "wall"
	LimitMemory    Limit = "memory"
	LimitProcesses Limit = "processes"
	LimitOutput    Limit = "output"
)

// Outcome is how a run ended.
type Outcome struct {
	Exit           int    // exit status; 128 + the signal's number when a signal ended it
	Limit          Limit  // what ended it
	Stdout, Stderr []byte // at most Limits.Output bytes each
}

// Reason codes of answers whose scorer ran a program.
const (
	ReasonNoSandbox = "no-sandbox"         // null: nothing here can run a program apart from the machine
	ReasonNoRuntime = "no-runtime"         // null: the language's interpreter is not there, or another than was pinned
	ReasonTimeout   = "timeout"            // 0 when CPU time ended it, null when the wall clock did
	ReasonMemory    = "memory"             // 0
	ReasonProcesses = "too-many-processes" // 0
	ReasonOutput    = "output-limit"       // 0
	ReasonNet       = "net-denied"         // 0: the program failed after the network was refused to it
	ReasonFile      = "file-denied"        // 0: it failed after a file was refused to it
	ReasonKilled    = "killed"             // null: something outside ended it, such as a machine without memory
)

// Undetermined is an error that leaves an answer without a value, for a reason
// that is no fault of its scorer.
type Undetermined struct {
	Code string // one of the reason codes
	Err  error
}

func (u *Undetermined) Error() string { return fmt.Sprintf("%s: %v", u.Code, u.Err) }
func (u *Undetermined) Unwrap() error { return u.Err }

// programs is a Runner with the context of the run that it serves.
type programs struct {
	run  func(Program, []byte) (Outcome, error)
	open func(Program) (Session, error)
	ask  func(Session, []byte) ([]byte, error)
}

func bind(ctx context.Context, r Runner) *programs {
	return &programs{
		run:  func(p Program, stdin []byte) (Outcome, error) { return r.Run(ctx, p, stdin) },
		open: func(p Program) (Session, error) { return r.Open(ctx, p) },
		ask:  func(s Session, line []byte) ([]byte, error) { return s.Ask(ctx, line) },
	}
}
