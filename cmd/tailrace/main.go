// Command tailrace compares concurrency models on the tail of a log: it runs a load against each of
// them, checks every answer, and says which one wins, by how much, and whether that is certain.
//
// Exit codes: 0 done and verified, 1 a verification or a run failed, or a regression, 2 wrong usage, bad input,
// or what can't be read or written, 3 a run could not be measured, or a comparison is inconclusive, 130 interrupted.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A second signal does no more than the first: it would kill this process while it cleans up, which
	// takes less than a second.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // a closed output is an error, after which there is cleaning up to do
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
