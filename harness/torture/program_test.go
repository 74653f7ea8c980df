package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// childVariable makes the test program the process of a check.
const childVariable = "TAILRACE_TORTURE"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	if err := Execute(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is the command that starts a program as that process.
func child(program string) []string { return []string{"env", childVariable + "=1", program} }

// buildWith makes the test program of the package in a directory, with another text for one file of the module.
func buildWith(dir, file, text string) (program string, err error) {
	overlay, err := overlaid(dir, file, text)
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "torture.test")
	output, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", program, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, output)
	}
	return program, nil
}

// overlaid writes what the go command is to take in place of a file.
func overlaid(dir, file, text string) (overlay string, err error) {
	mutated, overlay := filepath.Join(dir, filepath.Base(file)), filepath.Join(dir, "overlay.json")
	mapping, err := json.Marshal(map[string]map[string]string{"Replace": {file: mutated}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(os.WriteFile(mutated, []byte(text), 0o644), os.WriteFile(overlay, mapping, 0o644))
}
