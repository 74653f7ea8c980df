package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tailrace/harness"
	"tailrace/strategies"
	"tailrace/workload"
)

// Names that stand for several strategies.
const (
	coreStrategies = "core"
	allStrategies  = "all"
)

// defaultPreset is the set of workloads that runs if nothing else is asked for.
const defaultPreset = "default"

// expandStrategies replaces the names that stand for several. Names that there are not stay, to be refused
// by the plan.
func expandStrategies(given []string) []string {
	var names []string
	for _, name := range given {
		stands := standsFor(name)
		if len(stands) == 0 {
			stands = []string{name}
		}
		names = append(names, slices.DeleteFunc(stands, func(s string) bool { return slices.Contains(names, s) })...)
	}
	return names
}

// standsFor returns the strategies of a name in --strategies; none if there is no such name.
func standsFor(name string) []string {
	var names []string
	for _, s := range strategies.List {
		switch {
		case s.Name == name,
			name == coreStrategies && s.Kind == strategies.Core,
			name == allStrategies && s.Kind != strategies.Control:
			names = append(names, s.Name)
		}
	}
	return names
}

// chosenWorkloads are the workloads that the flags ask for, in order.
func chosenWorkloads(cmd *cobra.Command, f *runFlags) ([]workload.Workload, error) {
	preset, err := f.presetNamed()
	if err != nil {
		return nil, err
	}
	switch {
	case cmd.Flags().Changed("preset") && len(f.workloads) > 0:
		return nil, usagef("--preset %s: --workloads %s names the workloads already; give either", f.preset, strings.Join(f.workloads, ","))
	case len(f.workloads) == 0 && f.preset != defaultPreset && f.overrides.HasRoles():
		return nil, usagef("--preset %s: its workloads say how many workers, producers and consumers there are; leave those flags out, or the preset", f.preset)
	case f.scale && !slices.ContainsFunc(f.workloads, isFile):
		return nil, usagef("--scale: there is no file to be scaled; give --workloads FILE.yaml, or leave it out")
	case len(f.workloads) == 0 && !cmd.Flags().Changed("preset") && f.overrides.HasRoles():
		return workload.Custom(f.overrides)
	case len(f.workloads) == 0:
		if !cmd.Flags().Changed("blocks") {
			f.blocks = preset.Blocks
		}
		return f.presetWorkloads(&preset)
	}
	return f.findWorkloads()
}

// presetNamed is the preset that the flags ask for.
func (f *runFlags) presetNamed() (workload.Preset, error) {
	var names []string
	for _, p := range presets() {
		if p.Name == f.preset {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return workload.Preset{}, usagef("--preset %s: no such preset; there are %s%s", f.preset, strings.Join(names, ", "), workload.Suggestion(f.preset, names))
}

// presets are those for this machine.
func presets() []workload.Preset { return workload.PresetsFor(runtime.GOMAXPROCS(0)) }

// presetWorkloads are those of a preset, changed by the flags.
func (f *runFlags) presetWorkloads(preset *workload.Preset) ([]workload.Workload, error) {
	var found []workload.Workload
	for _, w := range slices.Concat(preset.Groups...) {
		grid, err := workload.Grid(w, f.overrides)
		if err != nil {
			return nil, err
		}
		found = append(found, grid...)
	}
	return found, nil
}

// findWorkloads returns workloads and files by name, changed by the flags.
func (f *runFlags) findWorkloads() ([]workload.Workload, error) {
	var found []workload.Workload
	for _, name := range f.workloads {
		grid, err := f.findWorkload(name)
		if err != nil {
			return nil, err
		}
		for _, w := range grid {
			if slices.ContainsFunc(found, func(other workload.Workload) bool { return other.Name == w.Name }) {
				return nil, usagef("--workloads %s: another workload is named %s too, and the results could not tell them apart; rename the file", name, w.Name)
			}
		}
		found = append(found, grid...)
	}
	return found, nil
}

func (f *runFlags) findWorkload(name string) ([]workload.Workload, error) {
	if !isFile(name) {
		preset, err := workload.Find(name)
		if err != nil {
			return nil, err
		}
		return workload.Grid(preset, f.overrides)
	}
	var scale workload.Scale
	if f.scale {
		scale = harness.Fits
	}
	grid, err := workload.LoadGrid(name, f.overrides, scale)
	var file *fs.PathError
	if errors.As(err, &file) {
		return nil, usagef("--workloads %s: %w", name, file.Err)
	}
	return grid, err
}

func isFile(name string) bool {
	extension := strings.ToLower(filepath.Ext(name))
	return extension == ".yaml" || extension == ".yml" || strings.ContainsRune(name, filepath.Separator)
}

// completeStrategies and the others offer the values of flags to the shell.
func completeStrategies(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	choices := []string{coreStrategies + "\tthe models that run by default", allStrategies + "\tevery strategy but the controls"}
	for _, s := range strategies.List {
		choices = append(choices, s.Name+"\t"+s.Summary)
	}
	return completeList(typed, choices), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func completeWorkloads(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var choices []string
	for _, w := range workload.Presets() {
		choices = append(choices, w.Name+"\t"+w.Describe())
	}
	return completeList(typed, choices), cobra.ShellCompDirectiveNoSpace
}

func completePresets(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var choices []string
	for _, p := range presets() {
		choices = append(choices, p.Name+"\t"+p.Summary)
	}
	return choices, cobra.ShellCompDirectiveNoFileComp
}

// completeList offers the choices for the last element of a list, but for those that it has already.
func completeList(typed string, choices []string) []string {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	given := strings.Split(before, ",")
	var completions []string
	for _, choice := range choices {
		if name, _, _ := strings.Cut(choice, "\t"); !slices.Contains(given, name) {
			completions = append(completions, before+choice)
		}
	}
	return completions
}

func completeDirectories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func completeOneOf(choices ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp)
}
