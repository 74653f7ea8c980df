package strategies_test

import "tailrace/segment"

// operation is a call on a storage that may fail or be held up.
type operation int

const (
	writing operation = iota
	syncing
	opening
	mapping
	truncating
)

// hooks is a storage that asks before each operation; an error takes the operation's place.
type hooks struct {
	segment.Storage
	before func(op operation) error
	// torn lets half of a write that fails through.
	torn bool
}

func (s *hooks) OpenLog(name string, create bool) (segment.LogFile, error) {
	if err := s.before(opening); err != nil {
		return nil, err
	}
	l, err := s.Storage.OpenLog(name, create)
	if err != nil {
		return nil, err
	}
	return &hookedLog{l, s}, nil
}

func (s *hooks) MapIndex(name string, size int64, create bool) (segment.Mapping, error) {
	if err := s.before(mapping); err != nil {
		return nil, err
	}
	return s.Storage.MapIndex(name, size, create)
}

func (s *hooks) Truncate(name string, size int64) error {
	if err := s.before(truncating); err != nil {
		return err
	}
	return s.Storage.Truncate(name, size)
}

type hookedLog struct {
	segment.LogFile
	hooks *hooks
}

func (l *hookedLog) Pwrite(p []byte, position int64) error {
	if err := l.hooks.before(writing); err != nil {
		if l.hooks.torn {
			l.LogFile.Pwrite(p[:len(p)/2], position)
		}
		return err
	}
	return l.LogFile.Pwrite(p, position)
}

func (l *hookedLog) PwriteBatches(batches []segment.Batch, position int64) error {
	if err := l.hooks.before(writing); err != nil {
		if l.hooks.torn {
			l.LogFile.PwriteBatches(batches[:len(batches)/2], position)
		}
		return err
	}
	return l.LogFile.PwriteBatches(batches, position)
}

func (l *hookedLog) Sync() error {
	if err := l.hooks.before(syncing); err != nil {
		return err
	}
	return l.LogFile.Sync()
}
