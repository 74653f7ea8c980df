package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tailrace/results"
)

const profilesFolder = "profiles"

// profile runs every cell once more for each profile that was asked for. These runs count for nothing else,
// because taking a profile costs time, and more to one strategy than to another.
func (s *sweep) profile(ctx context.Context) error {
	o := &s.plan.Options
	if len(o.Profiles) == 0 {
		return nil
	}
	folder, err := filepath.Abs(filepath.Join(o.Out, profilesFolder))
	if err == nil {
		err = os.MkdirAll(folder, 0o777)
	}
	if err != nil {
		return fmt.Errorf("harness: profiles: %w", err)
	}
	s.plan.Meta.Profiles = nil
	for i := range s.plan.Cells {
		c := &s.plan.Cells[i]
		if c.Cell.Arm != "" {
			continue
		}
		for _, kind := range o.Profiles {
			if err := s.profileCell(ctx, c, i, kind, folder); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *sweep) profileCell(ctx context.Context, c *PlannedCell, number int, kind, folder string) error {
	extension := ".pprof"
	if kind == ProfileTrace {
		extension = ".out"
	}
	name := fmt.Sprintf("%03d-%s-%s.%s%s", number, c.Cell.Workload, fileName(c.Cell.Label()), kind, extension)
	dir, err := s.dir(c.Place, "profile")
	if err != nil {
		return err
	}
	outcome, err := s.process(ctx, Spec{
		Cell: c.Cell, Workload: c.Workload, Seed: s.plan.Options.Seed, Dir: dir,
		Profile: map[string]string{kind: filepath.Join(folder, name)},
	})
	if dir != "" {
		_ = os.RemoveAll(dir) // clean tries again
	}
	if err != nil {
		return err
	}
	meta := &s.plan.Meta
	if text := outcome.Run.Verification.Error; text != "" {
		meta.Warnings = append(meta.Warnings, fmt.Sprintf("no %s profile of %s %s: %s", kind, c.Cell.Workload, c.Cell.Label(), text))
		return nil
	}
	meta.Profiles = append(meta.Profiles, results.Profile{Cell: c.Cell, Kind: kind, File: profilesFolder + "/" + name})
	return nil
}
