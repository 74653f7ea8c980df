//go:build race

package torture

// raceDetector: the program is built with it.
const raceDetector = true
