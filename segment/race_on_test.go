//go:build race

package segment_test

// raceDetector: tests are some ten times as slow, and those of one goroutine need it the least.
const raceDetector = true
