package strategies

import (
	"embed"
	"io/fs"
)

//go:embed mutex.go rwmutex.go
//go:embed atomics.go atomics_commit.go atomics_roll.go
//go:embed actor.go actor_owner.go command.go
var sources embed.FS

// Sources are the files of the core models as they were compiled, by name, for who counts what a model takes. What
// models share is not among them.
func Sources() fs.FS { return sources }
