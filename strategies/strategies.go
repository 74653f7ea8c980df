// Package strategies is the subject of tailrace: concurrency models in front of one segment store.
//
// Each model is one file that implements Log and Handle; the part of a partition that is not
// concurrency (which segment, when to roll, where an offset lies) is plain unsynchronised code that
// all share, in partition.go and picture.go. All files keep one order — invariant, type, open, append, roll, read,
// close — so that two can be read side by side.
//
//	mutex     sync.Mutex around every access                          mutex.go
//	rwmutex   readers share, writers exclude                           rwmutex.go
//	atomics   reserve in one atomic word, write in parallel, commit in order   atomics.go
//	actor     one goroutine owns the state, readers load a snapshot    actor.go, actor_owner.go, command.go
//	mutex-brief, rwmutex-brief, mutex-rcu, mutex-group, rbmutex, actor-plain, actor-mailbox
//	          variants: one idea of a neighbour changed                a file each
//	raw, null, busted   the controls                                   raw.go, null.go, busted.go
//
// What they do not differ in is shared too: waiting (wait.go, client.go), trimming and syncing by the clock
// (maintenance.go), and keeping files open under readers that hold no lock (gate.go).
package strategies

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tailrace/segment"
)

// Errors that callers decide on; test with errors.Is. Errors of a file carry its place and wrap
// segment.ErrCorrupt.
var (
	// ErrOutOfRange: the offset lies outside [start, high watermark].
	ErrOutOfRange = errors.New("strategies: offset out of range")
	// ErrClosed: the log or the handle is closed.
	ErrClosed = errors.New("strategies: log is closed")
	// ErrFailed: a write or sync failed earlier, so the partition takes no more appends. What was
	// acknowledged stays readable; what failed does not become visible.
	ErrFailed = errors.New("strategies: partition failed on an earlier write or sync")
	// ErrUnknownOutcome: the context or the log ended after the append had begun, while it waited for a
	// sync, for earlier appends to commit or for the replicas. The batch may or may not be in the log. It
	// says why, and wraps neither the context's error nor ErrClosed, which mean that nothing was appended.
	ErrUnknownOutcome = errors.New("strategies: outcome of the append is unknown")
	// ErrTooLarge: the batch does not fit in a segment.
	ErrTooLarge = errors.New("strategies: batch is larger than a segment")
	// ErrUnsupported: the operation or option makes no sense for this strategy.
	ErrUnsupported = errors.New("strategies: not supported")
	// ErrReplica: no follower has that number.
	ErrReplica = errors.New("strategies: no such replica")
	// ErrAcks: no such acknowledgement.
	ErrAcks = errors.New("strategies: unknown acks")
)

// Acks says when an append is acknowledged.
type Acks int8

const (
	// AcksNone: Append returns −1 once the batch is no longer needed, at the latest when it is committed.
	// Whether and where it was stored is not told.
	AcksNone Acks = iota
	// AcksLeader: after the local write, and after the sync where the policy asks for one.
	AcksLeader
	// AcksAll: after the high watermark has passed the batch, that is after every in-sync replica
	// has fetched it. Without replicas this is AcksLeader.
	AcksAll
)

// Offsets is the state of a partition at one moment: Start ≤ HighWatermark ≤ LogEnd, each
// monotonic, the high watermark on a batch boundary.
type Offsets struct {
	Start         int64 // first offset that can be read
	HighWatermark int64 // end of what consumers may read
	LogEnd        int64 // next offset to be assigned
}

// Log is one partition. All methods may be called from any goroutine at any time.
type Log interface {
	// NewHandle opens one client's access; cheap. After Close it returns a handle whose calls
	// return ErrClosed.
	NewHandle() Handle
	// Trim drops the whole segments that lie below an offset and the high watermark, the oldest first, and
	// moves the start to where the rest begins; the active segment stays. A read in flight gets the bytes that it asked for
	// or ErrOutOfRange. When Trim returns, the start is durable, and the disk space, descriptors and
	// mappings are free: it waits for the calls that began before it.
	Trim(before int64) error
	// Retain trims by size and age. It may drop less than it could, as of its beginning, never more.
	Retain(r Retention) error
	// LastSynced is an offset below which everything has been made durable. Under a sync policy of a byte
	// count or of every batch it follows the log end, under an interval it trails it; without a policy it
	// is where the log was opened.
	LastSynced() int64
	// Close resolves every call in flight, each exactly once, then releases everything. It ends Wait and
	// WaitLogEnd at once, and waits for the writes under way. A second call returns nil, which says nothing of how far the first has come.
	Close() error
}

// Handle is one client's access to a Log. It is used by one goroutine at a time, because it carries
// that goroutine's own scratch (reply channel, last position), so that operations allocate nothing.
//
// An acknowledged batch is readable at its offset, with the same bytes, exactly once. If append A
// returned before append B was called, offset(A) < offset(B). A client reads its own writes.
type Handle interface {
	// Append stores one batch at the log end and returns the offset of its first record; −1 with
	// AcksNone. It stamps the base offset into b, which is the call's alone until it returns and is
	// never touched after.
	//
	// A context that ends before the append has begun gives its error, and nothing was appended;
	// after that the call waits out the write. Behind another append's write that is stuck, some models see that
	// the context has ended only when that write is over: docs/strategies.md has a table. Other errors: segment.ErrInvalid (not a batch), ErrAcks,
	// ErrTooLarge, segment.ErrOffsets, ErrFailed, ErrClosed, ErrUnknownOutcome.
	Append(ctx context.Context, b segment.Batch, acks Acks) (base int64, err error)

	// Read returns whole batches below the high watermark in a sub-slice of buf, the first being
	// the one that contains offset; as many as fit. At the high watermark it returns an empty slice
	// and nil. Errors: ErrOutOfRange, *segment.ShortBufferError if the first batch alone exceeds buf,
	// segment.ErrCorrupt, ErrClosed.
	//
	// The usual case is one pread, if buf holds an index interval and a batch beyond the batch
	// asked for, or if offset is where the handle's last read ended.
	Read(offset int64, buf []byte) ([]byte, error)

	// Fetch is Read for a follower: up to the log end. That it asks for an offset says that it has all
	// below, which may raise the high watermark before Fetch returns. The offset begins a batch, or is the
	// log end. Errors: as Read's, and ErrReplica; nothing is noted then.
	Fetch(replica int, offset int64, buf []byte) ([]byte, error)

	// Wait blocks until offset is below the high watermark. Errors: the context's, ErrClosed,
	// ErrFailed when a poisoned partition will never get there.
	Wait(ctx context.Context, offset int64) error

	// WaitLogEnd is Wait for a follower: until offset is below the log end.
	WaitLogEnd(ctx context.Context, offset int64) error

	// OffsetForTime returns the first offset whose record has a timestamp ≥ ts (milliseconds
	// since the epoch, as in Kafka); the high watermark if there is none.
	OffsetForTime(ts int64) (int64, error)

	// Offsets returns the partition's offsets as of one moment.
	Offsets() Offsets

	// Close releases the handle; further calls return ErrClosed. It must not overlap another call.
	Close() error
}

// Retention says how much of a log is to be kept. Whole segments are dropped, from the oldest on, for as
// long as one of the limits allows it. The zero value keeps all.
type Retention struct {
	// Bytes of log to keep: a segment goes if what lies behind it has so many. 0 sets no limit.
	Bytes int64
	// Since: a segment goes if the timestamps of all its records are before. The zero time sets no limit.
	Since time.Time
}

// Options configures a Log.
type Options struct {
	// Storage holds the files of the partition. If Open succeeds, it is the Log's, whose Close closes it.
	Storage segment.Storage
	// SegmentSize is the size in bytes at which the active segment is rolled; default 64 MiB.
	SegmentSize int64
	// IndexInterval is the distance in bytes between index slots; default 4096.
	IndexInterval int64
	// Sync is when appends are made durable; the default is never.
	Sync segment.SyncPolicy
	// Recovered, if it is set, is told by Open what it has found and done.
	Recovered func(segment.Recovery)
	// Replicas is the number of followers, all in sync, that AcksAll waits for; at most 64. They are
	// numbered from 0. A log that is opened takes them to have all that it holds.
	Replicas int
}

// Kind tells candidates from controls.
type Kind int8

const (
	// Core is one of the four models that tailrace compares by default.
	Core Kind = iota
	// Variant changes one idea of a neighbour, so that a gain can be attributed.
	Variant
	// Control is not a candidate: a limit, a cost, or a negative control.
	Control
)

// Strategy is one entry of List.
type Strategy struct {
	Name string
	Kind Kind
	// Summary says in a line what the model is.
	Summary string
	// Open opens the partition in opts.Storage: new if it is empty, else as it was closed, or with what
	// a crash has left of it.
	Open func(opts Options) (Log, error)
	// PrivateFiles: each handle appends to a log of its own, and reads see only what was appended
	// through a handle closed before. Order and offsets across handles mean nothing.
	PrivateFiles bool
	// StoresNothing: answers cannot be verified.
	StoresNothing bool
	// Faulty: it gives wrong answers on purpose, and the checks must find them.
	Faulty bool
}

// List has every strategy, in the order in which tables and charts show them. A new one is one file
// and one line here.
var List = []Strategy{
	{Name: "mutex", Summary: "sync.Mutex around every access, the pread included", Open: openMutex},
	{Name: "rwmutex", Summary: "sync.RWMutex: readers share the lock, an append excludes everybody", Open: openRWMutex},
	{Name: "atomics", Summary: "reserve offset and bytes in one atomic word, write in parallel, commit in order", Open: openAtomics},
	{Name: "actor", Summary: "one goroutine owns the state and takes commands from a channel; readers load an immutable snapshot", Open: openActor},
	{Name: "mutex-brief", Kind: Variant, Summary: "mutex, but a read holds it only to pick the segment, not through its pread", Open: openMutexBrief},
	{Name: "rwmutex-brief", Kind: Variant, Summary: "rwmutex, but a read holds it only to pick the segment, not through its pread", Open: openRWMutexBrief},
	{Name: "mutex-rcu", Kind: Variant, Summary: "mutex-brief, but readers load an immutable snapshot and take no lock: the actor without its channel", Open: openMutexRCU},
	{Name: "mutex-group", Kind: Variant, Summary: "mutex-rcu, but the holder of the lock commits for all who wait for it: group commit", Open: openMutexGroup},
	{Name: "actor-plain", Kind: Variant, Summary: "actor, but a write and a publication for each command, the segment list copied: the article to the letter", Open: openActorPlain},
	{Name: "actor-mailbox", Kind: Variant, Summary: "actor, but reads go through the mailbox too: the classic one", Open: openActorMailbox},
	{Name: "rbmutex", Kind: Variant, Summary: "rwmutex, but the lock is biased towards readers, who mark slots in place of one count (xsync.RBMutex)", Open: openRBMutex},
	{Name: "raw", Kind: Control, Summary: "the limit: each handle has its own file, nothing is shared", Open: openRaw, PrivateFiles: true},
	{Name: "null", Kind: Control, Summary: "no I/O at all: what the harness itself costs", Open: openNull, StoresNothing: true},
	{Name: "busted", Kind: Control, Summary: "publishes before it writes: the checks must catch it", Open: openBusted, Faulty: true},
}

// Names are those of all strategies, in the order of List.
func Names() []string {
	names := make([]string, len(List))
	for i, s := range List {
		names[i] = s.Name
	}
	return names
}

// Find returns the strategy of a name.
func Find(name string) (Strategy, error) {
	for _, s := range List {
		if s.Name == name {
			return s, nil
		}
	}
	return Strategy{}, fmt.Errorf("strategies: unknown strategy %q", name)
}

// Idea is a step between two strategies that differ in one thing: what their results differ by is what it
// buys, or costs.
type Idea struct{ Name, From, To string }

// Ideas are the steps that there are in List. The two of actor-plain change a second thing, the list of
// segments that it copies with every publication, which costs less than can be seen while segments are few.
var Ideas = []Idea{
	{"shared read lock", "mutex", "rwmutex"},
	{"brief critical section", "mutex", "mutex-brief"},
	{"brief critical section", "rwmutex", "rwmutex-brief"},
	{"reader-biased lock", "rwmutex", "rbmutex"},
	{"snapshot reads", "mutex-brief", "mutex-rcu"},
	{"snapshot reads", "actor-mailbox", "actor"},
	{"parallel writes", "mutex-rcu", "atomics"},
	{"group commit", "mutex-rcu", "mutex-group"},
	{"group commit", "actor-plain", "actor"},
	{"channel", "mutex-rcu", "actor-plain"},
	{"channel", "mutex-group", "actor"},
	{"channel and group commit", "mutex-rcu", "actor"},
}
