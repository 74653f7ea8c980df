package strategies

import (
	"embed"
	"io/fs"
	"slices"
)

//go:embed mutex.go rwmutex.go
//go:embed atomics.go atomics_commit.go atomics_followers.go atomics_roll.go
//go:embed actor.go actor_owner.go command.go
var sources embed.FS

// Sources are the files of the core models as they were compiled, by name, for who counts what a model takes. What
// models share is not among them.
func Sources() fs.FS { return sources }

// SourceFiles are the files of this package that are a strategy's own, by its name: what is written for that model alone,
// or for it and its variants. There are none of a strategy that is not known; those of a core model are in Sources.
func SourceFiles(strategy string) []string { return slices.Clone(ownFiles[strategy]) }

// ownFiles is read only.
var ownFiles = map[string][]string{
	"mutex":             {"mutex.go"},
	"rwmutex":           {"rwmutex.go"},
	"atomics":           {"atomics.go", "atomics_commit.go", "atomics_followers.go", "atomics_roll.go"},
	"actor":             {"actor.go", "actor_owner.go", "command.go"},
	"mutex-brief":       {"mutex_brief.go"},
	"rwmutex-brief":     {"rwmutex_brief.go"},
	"mutex-rcu":         {"mutex_rcu.go"},
	"mutex-group":       {"mutex_group.go"},
	"actor-plain":       {"actor_plain.go"},
	"actor-mailbox":     {"actor_mailbox.go"},
	"rbmutex":           {"rbmutex.go"},
	"raw":               {"raw.go"},
	"null":              {"null.go"},
	"busted":            {"busted.go"},
	"atomics-unordered": {"atomics_unordered.go"},
}
