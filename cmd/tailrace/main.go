// Command tailrace compares concurrency models on the tail of a log: it runs a load against each of
// them, checks every answer, and says which one wins, by how much, and whether that is certain.
//
// Exit codes: 0 done and verified, 1 a verification or a run failed, 2 wrong usage or bad input,
// 3 a run could not be measured, 130 interrupted.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
