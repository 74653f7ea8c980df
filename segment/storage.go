package segment

// Storage is where the files of one partition live: a directory, or the heap. Its methods may be
// called from any goroutine, each file name by one at a time. Errors carry the file's name.
type Storage interface {
	// OpenLog opens a log file; with create it must not exist yet.
	OpenLog(name string, create bool) (LogFile, error)
	// MapIndex maps size bytes of an index file into memory, writable and backed by allocated
	// space, so that a store can't fail later. With create the file is new and reads as zeros;
	// otherwise it is extended with zeros where it is shorter. The descriptor is closed again.
	MapIndex(name string, size int64, create bool) (Mapping, error)
	// Create makes an empty file, or truncates the one that exists.
	Create(name string) error
	// Truncate cuts a file. Bytes of a mapping beyond the cut must not be touched any more.
	Truncate(name string, size int64) error
	// Rename gives a file another name, in place of a file that has it.
	Rename(from, to string) error
	// Remove takes a file's name away. Its space comes back when it is neither open nor mapped.
	Remove(name string) error
	// Size is a file's length in bytes. A file that does not exist gives an error that is
	// fs.ErrNotExist.
	Size(name string) (int64, error)
	// List names all files, sorted.
	List() ([]string, error)
	// SyncDir makes names durable: what was created, renamed and removed before.
	SyncDir() error
	// Close releases what the storage itself holds; open files and mappings stay. Files in a directory can't be
	// opened or named any more.
	Close() error
}

// LogFile is one open .log. Pread and Pwrite may overlap each other; Close may overlap nothing,
// since a closed descriptor's number may come back as another file's.
type LogFile interface {
	// Pread reads len(p) bytes at a position, fewer only at the end of the file. What lies behind the
	// end may also read as zeros: whoever reads knows how much is committed.
	Pread(p []byte, position int64) (int, error)
	// Pwrite writes all of p at a position, or gives an error.
	Pwrite(p []byte, position int64) error
	// PwriteBatches writes batches one behind the other in as few calls as possible. It must not
	// overlap another PwriteBatches on the same file.
	PwriteBatches(batches []Batch, position int64) error
	// Sync makes the written data durable (fdatasync).
	Sync() error
	// Size is the file's length in bytes.
	Size() (int64, error)
	// Truncate cuts the file. It must not overlap a write.
	Truncate(size int64) error
	Close() error
}

// Mapping is an index file in memory.
type Mapping interface {
	// Bytes is the mapped memory. Concurrent use is up to the caller, as for any byte slice.
	Bytes() []byte
	// Sync makes what was stored before the call durable (msync).
	Sync() error
	// Close unmaps; the bytes must not be touched after.
	Close() error
}
