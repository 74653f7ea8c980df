package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tailrace/workload"
)

// onTmpfs skips a test where there is no shared memory, and returns how much is free there.
func onTmpfs(t *testing.T) filesystem {
	t.Helper()
	f, err := statFilesystem(sharedMemory)
	if err != nil {
		t.Skipf("no %s here: %v", sharedMemory, err)
	}
	if !f.inMemory() {
		t.Skipf("%s is %s here", sharedMemory, f.name)
	}
	return f
}

// onDisk is a directory that is not in memory.
func onDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if f, err := statFilesystem(dir); err != nil || f.inMemory() {
		t.Skipf("temporary files are in memory here (%s, %v)", f.name, err)
	}
	return dir
}

func placeable(bytes int64) *workload.Workload {
	w := tinyMix()
	w.MaxBytes = bytes
	return &w
}

func TestStatFilesystem(t *testing.T) {
	if f := onTmpfs(t); f.name != "tmpfs" || f.free <= 0 {
		t.Errorf("%s is %+v, want a tmpfs with room", sharedMemory, f)
	}
	if _, err := statFilesystem(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing path gave %v", err)
	}
}

func TestPlaceAuto(t *testing.T) {
	onTmpfs(t)
	out := onDisk(t)
	p := &placer{storage: StorageAuto, out: out, runs: 1}
	place, err := p.place(placeable(1 << 20))
	if err != nil || place.Kind != StorageTmpfs || place.Parent != sharedMemory || !strings.Contains(place.Text, sharedMemory) {
		t.Errorf("without a sync: %+v, %v", place, err)
	}
	w := placeable(1 << 20)
	w.Sync = workload.SyncBatch
	place, err = p.place(w)
	if err != nil || place.Kind != StorageDisk || place.Parent != out || place.Text == "" {
		t.Errorf("with a sync: %+v, %v", place, err)
	}
	if len(p.warnings) != 0 {
		t.Errorf("warnings %q", p.warnings)
	}
}

// Where tmpfs has no room, the disk is taken and a reader is told why, once.
func TestPlaceFallsBackToDisk(t *testing.T) {
	shared := onTmpfs(t)
	out := onDisk(t)
	disk, err := statFilesystem(out)
	if err != nil {
		t.Fatal(err)
	}
	room := min(shared.free, availableMemory())
	if disk.free < room+2<<30 {
		t.Skip("the disk here has no more room than memory")
	}
	p := &placer{storage: StorageAuto, out: out, runs: 1}
	for range 2 {
		place, err := p.place(placeable(room + 1<<30))
		if err != nil || place.Kind != StorageDisk || place.Parent != out {
			t.Fatalf("placed at %+v, %v", place, err)
		}
	}
	if len(p.warnings) != 1 {
		t.Fatalf("warnings %q, want one", p.warnings)
	}
	for _, part := range []string{"mix", "disk", "write-back", sharedMemory, "free"} {
		if !strings.Contains(p.warnings[0], part) {
			t.Errorf("the warning is %q; want it to say %q", p.warnings[0], part)
		}
	}
	if strings.Contains(p.warnings[0], "<nil>") || strings.Contains(p.warnings[0], ErrUsage.Error()) {
		t.Errorf("the warning reads badly: %q", p.warnings[0])
	}
	p.storage = StorageTmpfs
	if _, err := p.place(placeable(room + 1<<30)); !errors.Is(err, ErrUsage) {
		t.Errorf("tmpfs without room gave %v, want ErrUsage", err)
	}
}

func TestPlaceGivenDirectory(t *testing.T) {
	onTmpfs(t)
	disk := onDisk(t)
	for _, c := range []struct {
		storage, dir, kind string // kind "" is refused
	}{
		{StorageAuto, disk, StorageDisk},
		{StorageDisk, disk, StorageDisk},
		{StorageTmpfs, disk, ""},
		{StorageAuto, sharedMemory, StorageTmpfs},
		{StorageTmpfs, sharedMemory, StorageTmpfs},
		{StorageDisk, sharedMemory, ""},
	} {
		p := &placer{storage: c.storage, dir: c.dir, out: disk, runs: 1}
		place, err := p.place(placeable(1 << 20))
		if c.kind == "" {
			if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.dir) || !strings.Contains(err.Error(), c.storage) {
				t.Errorf("--storage %s --dir %s: %+v, %v", c.storage, c.dir, place, err)
			}
			continue
		}
		if err != nil || place.Kind != c.kind || place.Parent != c.dir {
			t.Errorf("--storage %s --dir %s: %+v, %v", c.storage, c.dir, place, err)
		}
	}
}

// Results on tmpfs are no disk: asked for one it is an error, chosen by default it is a warning.
func TestPlaceDiskIsInMemory(t *testing.T) {
	onTmpfs(t)
	out, err := os.MkdirTemp(sharedMemory, "tailrace-test-")
	if err != nil {
		t.Skipf("no shared memory here: %v", err)
	}
	defer os.RemoveAll(out)
	w := placeable(1 << 20)
	w.Sync = workload.SyncBatch
	p := &placer{storage: StorageDisk, out: filepath.Join(out, "new"), runs: 1}
	if _, err := p.place(w); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("--storage disk gave %v", err)
	}
	p.storage = StorageAuto
	place, err := p.place(w)
	if err != nil || place.Kind != StorageTmpfs || place.Parent != p.out || len(p.warnings) != 1 {
		t.Errorf("by default: %+v, %v, warnings %q", place, err, p.warnings)
	}
}

// Kept data of many runs needs room for all.
func TestPlaceCountsKeptRuns(t *testing.T) {
	dir := t.TempDir()
	f, err := statFilesystem(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &placer{storage: StorageAuto, dir: dir, out: dir, runs: 64}
	if _, err := p.place(placeable(f.free / 32)); !errors.Is(err, ErrUsage) {
		t.Errorf("data twice as large as the disk gave %v", err)
	}
	wantEmpty(t, dir)
}

func TestTempDir(t *testing.T) {
	disk := t.TempDir()
	f, err := statFilesystem(disk)
	if err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(disk, "missing")
	dir, err := TempDir(1<<20, f.inMemory(), "a-", missing, disk)
	if err != nil || filepath.Dir(dir) != disk {
		t.Fatalf("%q, %v", dir, err)
	}
	for _, test := range []struct {
		name     string
		need     int64
		inMemory bool
		want     string
	}{
		{"too little room", f.free, f.inMemory(), " free, of the "},
		{"another kind", 1 << 20, !f.inMemory(), disk + " is " + f.name},
	} {
		if dir, err := TempDir(test.need, test.inMemory, "a-", missing, disk); err == nil ||
			!strings.Contains(err.Error(), test.want) || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %q, %v, want %q", test.name, dir, err, test.want)
		}
	}
}
