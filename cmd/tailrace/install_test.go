package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInstall installs into a directory with a blank, under the umask of a careful root: everybody can read it.
func TestInstall(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make")
	}
	source, target := t.TempDir(), filepath.Join(t.TempDir(), "a b")
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(source, "Makefile"), makefile, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(source, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(source, "bin", "tailrace"), []byte("#!/bin/sh\nexec tailrace \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	install := exec.Command("sh", "-c", `umask 077; make -s -o build install PREFIX=/usr DESTDIR="$1"`, "sh", target)
	install.Dir = source
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for path, want := range map[string]os.FileMode{
		"bin/tailrace":                                  0o755,
		"share/man/man1/tailrace.1":                     0o644,
		"share/man/man1/tailrace-compare.1":             0o644,
		"share/bash-completion/completions/tailrace":    0o644,
		"share/zsh/site-functions/_tailrace":            0o644,
		"share/fish/vendor_completions.d/tailrace.fish": 0o644,
	} {
		info, err := os.Stat(filepath.Join(target, "usr", path))
		if err != nil || info.Mode().Perm() != want || info.Size() == 0 {
			t.Errorf("%s: %v, %v, want %v", path, info, err, want)
		}
	}
}
