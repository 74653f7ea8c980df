package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// plantedVariable names the fault that a program with planted faults has.
const plantedVariable = "TAILRACE_PLANTED"

// plantedFaults are texts of files, each with one in its place. Each has its fault only where planted has its name.
var plantedFaults = []struct{ file, old, new string }{
	{
		"strategies/picture.go",
		"\t\tlatest = max(latest, list[len(list)-1].latest)\n",
		"\t\tif planted != \"lost timestamp\" {\n\t\t\tlatest = max(latest, list[len(list)-1].latest)\n\t\t}\n",
	},
	{
		"strategies/busted.go",
		"\tpublished, late, err := l.publish(b)\n",
		"\tif planted == \"panic of busted\" {\n\t\tpanic(\"planted\")\n\t}\n\tpublished, late, err := l.publish(b)\n",
	},
	{
		"strategies/strategies.go",
		"Open: openBusted, Faulty: true",
		"Open: map[bool]func(Options) (Log, error){false: openBusted, true: openMutex}[planted == \"faultless busted\"], Faulty: true",
	},
	{
		"strategies/mutex.go",
		"\tbase, offsets, err := h.log.append(ctx, b)\n",
		"\tif planted == \"panic of mutex\" {\n\t\tpanic(\"planted\")\n\t}\n\tbase, offsets, err := h.log.append(ctx, b)\n",
	},
	{
		"claims/indexes.go",
		"\tseed := b.random.Uint64()\n",
		"\tif planted == \"panic of indexes\" {\n\t\tpanic(\"planted\")\n\t}\n\tseed := b.random.Uint64()\n",
	},
}

// plantedFiles are added to the packages.
var plantedFiles = map[string]string{
	"strategies/planted.go": "package strategies\n\nimport \"os\"\n\nvar planted = os.Getenv(\"" + plantedVariable + "\")\n",
	"claims/planted.go":     "package claims\n\nimport \"os\"\n\nvar planted = os.Getenv(\"" + plantedVariable + "\")\n",
}

// TestPlantedFaults shows what the command does about faults of its own, by one program that has them all.
func TestPlantedFaults(t *testing.T) {
	program := buildPlanted(t)
	for name, test := range map[string]func(*testing.T, string){
		"no fault":               testAgainst,
		"violation of a check":   testCheckViolation,
		"worthless check":        testCheckWorthless,
		"panic of a run":         testRunOfAPanic,
		"panic in preflight":     testPreflightOfAPanic,
		"panic in an experiment": testExperimentOfAPanic,
	} {
		t.Run(name, func(t *testing.T) { test(t, program) })
	}
}

// buildPlanted builds tailrace with the planted faults.
func buildPlanted(t *testing.T) (program string) {
	t.Helper()
	dir := t.TempDir()
	replaced := make(map[string]string)
	replace := func(file, text string) {
		path, err := filepath.Abs(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		replaced[path] = filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
		if err := os.WriteFile(replaced[path], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, fault := range plantedFaults {
		text, err := os.ReadFile(filepath.Join("../..", fault.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), fault.old); n != 1 {
			t.Fatalf("%s has the text to replace %d times, want once", fault.file, n)
		}
		replace(fault.file, strings.Replace(string(text), fault.old, fault.new, 1))
	}
	for file, text := range plantedFiles {
		replace(file, text)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "other")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, ".")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	return program
}
