// Package segmenttest helps to test what is built on a [segment.Storage]: [Faults] makes chosen calls of
// any storage fail, and [Disk] is a storage in memory that tells what a crash would leave. They combine:
// NewFaults(NewDisk()) is a disk whose calls fail.
//
// # The model of a crash
//
// A Disk keeps apart what calls see, which is the page cache of a running system, and what is durable. In
// between are pending changes, in the order in which they were made:
//
//   - of a file: a write, a cut or extension of its size, and what was stored through a mapping;
//   - of the directory: a name that was made, given to another file, or taken away.
//
// LogFile.Sync and Mapping.Sync make the changes of their file durable, its size included but not its
// name. SyncDir makes all names durable, but no file's bytes. This is POSIX at its strictest: many file
// systems promise more, but none has to.
//
// [Disk.Crash] takes an image: a new Disk as the next start would find it after a power loss. Any subset
// of the pending changes may have reached the disk, in any order:
//
//   - A write is kept, lost, or kept in part, each 512-byte sector of the file by itself. A file is as
//     long as the kept changes make it. Where a lost write lies before a kept one, there is a hole:
//     zeros, or what was there before.
//   - Every aligned 16-byte unit that was stored through a mapping is old or new by itself, and now and
//     then half of it is, since no more than 8 bytes are ever stored at once. A store beyond the length
//     that the file came to have is lost.
//   - A change of size, or of a name, is kept or lost as a whole. A rename is atomic: both names change
//     or neither. A kept change of names has an effect only as far as its names still stand for the
//     files that they stood for: a name does not come to be by the rename of a file whose creation was
//     lost, and a file whose own removal or replacement was lost is not lost by another's.
//
// Not all outcomes are equally likely, since the extremes find most mistakes: in a share of the images
// all is kept, all is lost, or only what came first is kept; and in the others a single file, or the
// directory, often is kept or lost as a whole.
//
// # Limits
//
//   - Sectors are never garbage, and durable bytes never rot; [Disk.WriteFile] does damage.
//   - A sync that [Faults] fails makes nothing durable, and the next one makes all of it durable. Linux
//     may instead drop the pages and report success the second time.
//   - Mapping.Sync makes the whole file durable, also what lies behind the mapping.
//   - Stores into mapped memory can't be seen while they happen. What is pending is found out by
//     comparing, when an image is taken and when a call changes or syncs the file; a value that was
//     stored and replaced between two such moments never appears in an image.
//   - A mapped file can't become longer than the longest it has been while mapped: that is an error.
//   - There is one mutex. It orders a write before every later read, so that the race detector misses a
//     publication that is missing; [segment.Heap] is there for that.
package segmenttest
