// Package claims puts the claims of the article that the project implements to the test.
//
// Each claim has an experiment and a rule that is fixed before anything is measured: conditions on figures, each a
// number with an interval. A condition is met where the whole interval lies on the right side of its bound, not met
// where it lies on the other, and open where the bound is inside. A claim holds if all its conditions are met, does
// not hold if all are not met, holds in part if some are met and some are not, and is not settled otherwise: while one
// is open on which the verdict depends, or where a premise about the machine is not met or open.
//
// All rules are in rules.go. Experiments are of two kinds: cells of one sweep, which runs all claims' loads block by
// block in processes of their own (sweep.go), and experiments beside it (the other files): most of them loops whose arms
// take turns, with a process for each block as well (apart.go). The processes of those that lack memory or processors
// (pressure_child.go) have a limit, of memory by a control group (cgroup_linux.go).
package claims
