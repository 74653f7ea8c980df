//go:build !race

package segment_test

const raceDetector = false
