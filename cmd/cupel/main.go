// Command cupel turns an LLM serving decision into a campaign file, runs it as
// content-addressed steps, and answers with an exit code.
package main

import (
	"context"
	"os"
)

// version is set by the linker for releases.
var version = "0.1.0-dev"

func main() {
	ctx, stop := interruptible(context.Background(), os.Stderr)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
