package segmenttest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"tailrace/segment"
)

var errBroken = errors.New("broken")

// calls makes one call of every kind, on files that exist, and gives their errors.
func calls(t *testing.T, f *Faults) map[Op]error {
	t.Helper()
	must(t, f.storage.Create("spare"), f.storage.Create("2.log"))
	inner := createLog(t, f.storage, "1.log")
	must(t, inner.Pwrite([]byte("abcd"), 0), inner.Close())
	errs := map[Op]error{}
	l, err := f.OpenLog("1.log", false)
	errs[OpenLog] = err
	m, err := f.MapIndex("1.index", 64, true)
	errs[MapIndex] = err
	if l != nil {
		_, errs[Pread] = l.Pread(make([]byte, 4), 0)
		errs[Pwrite] = l.Pwrite([]byte("efgh"), 0)
		errs[PwriteBatches] = l.PwriteBatches([]segment.Batch{segment.Batch("ij"), segment.Batch("kl")}, 0)
		errs[Sync] = l.Sync()
		_, errs[LogSize] = l.Size()
		errs[LogTruncate] = l.Truncate(2)
		errs[LogClose] = l.Close()
	}
	if m != nil {
		errs[MapSync] = m.Sync()
		errs[MapClose] = m.Close()
	}
	errs[Create] = f.Create("new")
	errs[Truncate] = f.Truncate("1.log", 1)
	errs[Rename] = f.Rename("spare", "other")
	errs[Remove] = f.Remove("2.log")
	_, errs[Size] = f.Size("1.log")
	_, errs[List] = f.List()
	errs[SyncDir] = f.SyncDir()
	errs[Close] = f.Close()
	return errs
}

// Each kind of call fails when it is told to, alone, with an error that says what and where, and nothing
// stays open.
func TestFailEachOp(t *testing.T) {
	for _, failing := range Ops() {
		t.Run(failing.String(), func(t *testing.T) {
			d := NewDisk()
			f := NewFaults(d)
			f.Fail(failing, 1, 1, errBroken)
			errs := calls(t, f)
			for op, err := range errs {
				if op != failing && err != nil {
					t.Errorf("%v failed too: %v", op, err)
				}
			}
			err := errs[failing]
			if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "segmenttest: "+ops[failing].action+" ") {
				t.Errorf("the error is %v", err)
			}
			if n := f.Count(failing); n != 1 {
				t.Errorf("counted %d calls", n)
			}
			if logs, mappings := d.Open(); logs != 0 || mappings != 0 {
				t.Errorf("%d logs and %d mappings are open", logs, mappings)
			}
			switch failing {
			case OpenLog, MapIndex: // the calls on what was not opened are missing
			default:
				if len(errs) != int(opCount) {
					t.Errorf("%d kinds of calls were made, of %d", len(errs), opCount)
				}
			}
		})
	}
}

// A call that fails has no effect.
func TestFailHasNoEffect(t *testing.T) {
	d := NewDisk()
	f := NewFaults(d)
	for _, op := range Ops() {
		if op != OpenLog && op != MapIndex {
			f.Fail(op, 1, 1, errBroken)
		}
	}
	calls(t, f)
	check(t, d, map[string]string{"1.log": "abcd", "1.index": string(make([]byte, 64)), "2.log": "", "spare": ""})
}

// The nth call is counted from the call of Fail.
func TestFailNth(t *testing.T) {
	f := NewFaults(segment.NewHeap())
	pattern := func(n int) string {
		var s strings.Builder
		for range n {
			if err := f.SyncDir(); errors.Is(err, errBroken) {
				s.WriteByte('x')
			} else if err == nil {
				s.WriteByte('.')
			}
		}
		return s.String()
	}
	for _, test := range []struct {
		nth, times int
		want       string
	}{{1, 1, "x....."}, {3, 2, "..xx.."}, {2, -1, ".xxxxx"}, {2, 0, "......"}} {
		if got := pattern(2); got != ".." {
			t.Errorf("without a failure: %s", got)
		}
		f.Fail(SyncDir, test.nth, test.times, errBroken)
		if got := pattern(len(test.want)); got != test.want {
			t.Errorf("failing %d from %d: %s, want %s", test.times, test.nth, got, test.want)
		}
		f.Clear()
	}
	if got := f.Count(SyncDir); got != 4*8 {
		t.Errorf("Count = %d", got)
	}
	f.Fail(SyncDir, 1, 1, errBroken)
	f.Fail(SyncDir, 4, 1, errBroken)
	if got := pattern(5); got != "x..x." {
		t.Errorf("two failures: %s", got)
	}
}

func TestShort(t *testing.T) {
	d := NewDisk()
	f := NewFaults(d)
	l := createLog(t, f, "1.log")
	f.Short(Pwrite, 1, 1, errBroken)
	if err := l.Pwrite([]byte("abcdefgh"), 2); !errors.Is(err, errBroken) {
		t.Errorf("Pwrite = %v", err)
	}
	check(t, d, map[string]string{"1.log": "\x00\x00abcd"})
	f.Short(PwriteBatches, 1, 1, errBroken)
	batches := []segment.Batch{segment.Batch("123"), segment.Batch("456"), segment.Batch("789")}
	if err := l.PwriteBatches(batches, 0); !errors.Is(err, errBroken) {
		t.Errorf("PwriteBatches = %v", err)
	}
	check(t, d, map[string]string{"1.log": "1234cd"})
	must(t, l.PwriteBatches(batches, 0))
	f.Short(MapIndex, 1, 2, errBroken)
	if _, err := f.MapIndex("1.index", 64, true); !errors.Is(err, errBroken) {
		t.Errorf("MapIndex = %v", err)
	}
	if _, err := f.MapIndex("2.index", 64, false); !errors.Is(err, errBroken) {
		t.Errorf("MapIndex = %v", err)
	}
	check(t, d, map[string]string{"1.log": "123456789", "1.index": ""})
}

// A short write that fails below as well gives both errors.
func TestShortFailsBelow(t *testing.T) {
	below := errors.New("below")
	inner := NewFaults(NewDisk())
	outer := NewFaults(inner)
	l := createLog(t, outer, "1.log")
	outer.Short(PwriteBatches, 1, 1, errBroken)
	inner.Fail(Pwrite, 1, 1, below)
	err := l.PwriteBatches([]segment.Batch{segment.Batch("ab"), segment.Batch("cd")}, 0)
	if !errors.Is(err, errBroken) || !errors.Is(err, below) {
		t.Errorf("PwriteBatches = %v", err)
	}
}

// Before sees every call before it is decided on, and can fail it for its name.
func TestBefore(t *testing.T) {
	f := NewFaults(NewDisk())
	var seen []string
	f.Before = func(op Op, name string) {
		seen = append(seen, op.String()+" "+name)
		if op == Create && name == "b" {
			f.Fail(Create, 1, 1, errBroken)
		}
	}
	must(t, f.Create("a"))
	if err := f.Create("b"); !errors.Is(err, errBroken) {
		t.Errorf("Create b = %v", err)
	}
	must(t, f.Create("c"), f.Rename("a", "d"), f.SyncDir())
	if got, want := strings.Join(seen, ", "), "Create a, Create b, Create c, Rename a, SyncDir directory"; got != want {
		t.Errorf("Before saw %s, want %s", got, want)
	}
}

// Of many goroutines' calls exactly those fail that are to.
func TestFaultsConcurrently(t *testing.T) {
	f := NewFaults(NewDisk())
	l := createLog(t, f, "1.log")
	f.Fail(Pwrite, 51, 25, errBroken)
	var group sync.WaitGroup
	failures := make([]int, 4)
	for i := range failures {
		group.Go(func() {
			for n := range 50 {
				if l.Pwrite([]byte{1}, int64(50*i+n)) != nil {
					failures[i]++
				}
			}
		})
	}
	group.Wait()
	total := 0
	for _, n := range failures {
		total += n
	}
	if total != 25 || f.Count(Pwrite) != 200 {
		t.Errorf("%d of %d calls failed", total, f.Count(Pwrite))
	}
}

func TestOpString(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range Ops() {
		seen[op.String()] = true
	}
	if len(seen) != int(opCount) || seen[""] || Pwrite.String() != "Pwrite" || Op(-1).String() != "Op(-1)" {
		t.Errorf("the names are %v", seen)
	}
}
