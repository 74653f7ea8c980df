//go:build !linux

package harness

import "time"

// nanosleep stands in for clock_nanosleep where there is none; open loops are not for measuring there.
func nanosleep(d time.Duration) { time.Sleep(d) }
