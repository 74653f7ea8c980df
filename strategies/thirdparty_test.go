package strategies_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The strategy that docs/adding-a-strategy.md shows is built as it stands there, and conforms.
func TestDocumentedStrategy(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the package again")
	}
	if os.Getenv("TAILRACE_DOCUMENTED_STRATEGY") != "" {
		t.Skip("inside of itself")
	}
	text, err := os.ReadFile("../docs/adding-a-strategy.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```go\n")
	if len(blocks) != 3 {
		t.Fatalf("the page has %d blocks of Go, want 2", len(blocks)-1)
	}
	file, _, _ := strings.Cut(blocks[1], "```")
	line, _, _ := strings.Cut(blocks[2], "```")
	list, err := os.ReadFile("strategies.go")
	if err != nil {
		t.Fatal(err)
	}
	const before = "\t{Name: \"raw\", Kind: Control,"
	if strings.Count(string(list), before) != 1 {
		t.Fatalf("no place for the line in List")
	}
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(here, "chanlock.go"):   write("chanlock.go", file),
		filepath.Join(here, "strategies.go"): write("strategies.go", strings.Replace(string(list), before, line+before, 1)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	tests := exec.Command("go", "test", "-short", "-timeout", "100s", "-overlay", write("overlay.json", string(overlay)),
		"-run", "^Test(Alloc|Trim|Close|Reopen|Wait|Read|Append|Acks|Offsets|Time|Fault|Concurrent|Cancel|Stuck|Fetch|HighWatermark)[^/]*$/strategy=chan-lock", "-v", ".")
	tests.Env = append(os.Environ(), "TAILRACE_DOCUMENTED_STRATEGY=1")
	output, err := tests.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if ran := strings.Count(string(output), "--- PASS"); ran < 50 {
		t.Fatalf("only %d tests ran\n%s", ran, output)
	}
}
