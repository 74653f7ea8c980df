package segmenttest

import "fmt"

// Op is a kind of call of a storage, of its logs or of its mappings.
type Op int

// The calls of segment.Storage, segment.LogFile and segment.Mapping. Mapping.Bytes is none: it can't fail.
const (
	OpenLog Op = iota
	MapIndex
	Create
	Truncate
	Rename
	Remove
	Size
	List
	SyncDir
	Close // of the storage
	Pread
	Pwrite
	PwriteBatches
	Sync // of a log
	LogSize
	LogTruncate
	LogClose
	MapSync
	MapClose
	opCount
)

// ops gives each Op its name, and the action that errors speak of.
var ops = [opCount]struct{ name, action string }{
	OpenLog:       {"OpenLog", "open"},
	MapIndex:      {"MapIndex", "map"},
	Create:        {"Create", "create"},
	Truncate:      {"Truncate", "truncate"},
	Rename:        {"Rename", "rename"},
	Remove:        {"Remove", "remove"},
	Size:          {"Size", "stat"},
	List:          {"List", "list"},
	SyncDir:       {"SyncDir", "sync"},
	Close:         {"Close", "close"},
	Pread:         {"Pread", "read"},
	Pwrite:        {"Pwrite", "write"},
	PwriteBatches: {"PwriteBatches", "write"},
	Sync:          {"Sync", "sync"},
	LogSize:       {"LogSize", "stat"},
	LogTruncate:   {"LogTruncate", "truncate"},
	LogClose:      {"LogClose", "close"},
	MapSync:       {"MapSync", "sync"},
	MapClose:      {"MapClose", "unmap"},
}

// Ops lists all kinds of calls.
func Ops() []Op {
	all := make([]Op, opCount)
	for i := range all {
		all[i] = Op(i)
	}
	return all
}

// String is the name of the constant.
func (op Op) String() string {
	if op < 0 || op >= opCount {
		return fmt.Sprintf("Op(%d)", int(op))
	}
	return ops[op].name
}

// directory is what errors name where a call has no file.
const directory = "directory"

// failed is the error of an op on a file, in the form in which the real storages give theirs.
func failed(op Op, name string, err error) error {
	return fmt.Errorf("segmenttest: %s %s: %w", ops[op].action, name, err)
}
