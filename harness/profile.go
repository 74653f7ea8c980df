package harness

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
)

// Kinds of profiles, as go test has them.
const (
	ProfileCPU   = "cpu"
	ProfileMutex = "mutex"
	ProfileBlock = "block"
	ProfileTrace = "trace"
)

// ProfileKinds are all of them.
var ProfileKinds = []string{ProfileCPU, ProfileMutex, ProfileBlock, ProfileTrace}

// ProfileFlag is the name that the flag for a kind has in go test.
func ProfileFlag(kind string) string {
	if kind == ProfileTrace {
		return kind
	}
	return kind + "profile"
}

// startProfile begins to write profiles, to paths by their kind. stop ends and writes them.
func startProfile(paths map[string]string) (stop func() error, err error) {
	var stops []func() error
	stop = func() error {
		for _, s := range stops {
			if err := s(); err != nil {
				return fmt.Errorf("harness: profile: %w", err)
			}
		}
		return nil
	}
	for _, kind := range ProfileKinds {
		path, ok := paths[kind]
		if !ok {
			continue
		}
		f, err := os.Create(path)
		if err != nil {
			return stop, fmt.Errorf("harness: profile: %w", err)
		}
		end, err := begin(kind, f)
		if err != nil {
			_ = f.Close()
			return stop, fmt.Errorf("harness: profile: %w", err)
		}
		stops = append(stops, func() error {
			if err := end(); err != nil {
				_ = f.Close()
				return err
			}
			return f.Close()
		})
	}
	return stop, nil
}

// begin starts one profile. The rates of mutex and block profiles are those that record every event.
func begin(kind string, f *os.File) (end func() error, err error) {
	named := func() error { return pprof.Lookup(kind).WriteTo(f, 0) }
	switch kind {
	case ProfileCPU:
		return func() error { pprof.StopCPUProfile(); return nil }, pprof.StartCPUProfile(f)
	case ProfileTrace:
		return func() error { trace.Stop(); return nil }, trace.Start(f)
	case ProfileMutex:
		runtime.SetMutexProfileFraction(1)
		return named, nil
	default:
		runtime.SetBlockProfileRate(1)
		return named, nil
	}
}
