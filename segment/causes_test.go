package segment

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Of several limits that an error can stand for, the one that was met is told.
func TestCauses(t *testing.T) {
	for name, test := range map[string]struct {
		words    string
		says     string
		saysNone []string
	}{
		"mappings":         {memory{65531, 65530, 1 << 30, -1}.word(4096), "vm.max_map_count", []string{"ulimit"}},
		"both":             {memory{65531, 65530, 1 << 30, 1 << 30}.word(4096), "vm.max_map_count", nil},
		"address space":    {memory{100, 65530, 1 << 30, 1<<30 + 4095}.word(4096), "ulimit -v", []string{"max_map_count"}},
		"neither":          {memory{100, 65530, 1 << 30, 1<<30 + 4096}.word(4096), "control group", nil},
		"neither, no max":  {memory{100, 65530, 1 << 30, -1}.word(4096), "control group", nil},
		"not known":        {memory{-1, 65530, -1, 1 << 40}.word(4096), "or", nil},
		"blocks":           {wordSpace(unix.Statfs_t{Bsize: 4096, Bavail: 3, Files: 9, Ffree: 1}, 1<<20), "12288 bytes", []string{"inode", "quota"}},
		"inodes":           {wordSpace(unix.Statfs_t{Bsize: 4096, Bavail: 3, Files: 9}, 0), "inode", []string{"quota"}},
		"neither of both":  {wordSpace(unix.Statfs_t{Bsize: 4096, Bavail: 3, Files: 9, Ffree: 1}, 100), "quota", []string{"inode"}},
		"inodes not known": {wordSpace(unix.Statfs_t{Bsize: 4096, Bavail: 3}, 100), "quota", []string{"inode"}},
		"quota":            {cause(unix.EDQUOT, -1, 0).Error(), "quota", nil},
		"all files":        {cause(unix.ENFILE, -1, 0).Error(), "fs.file-max", []string{"ulimit"}},
		"own files":        {cause(unix.EMFILE, -1, 0).Error(), "ulimit -n", []string{"file-max"}},
		"file system":      {cause(unix.EFBIG, -1, 1).Error(), "file system", []string{"ulimit"}},
	} {
		if !strings.Contains(test.words, test.says) {
			t.Errorf("%s: %s, want it to say %q", name, test.words, test.says)
		}
		for _, none := range test.saysNone {
			if strings.Contains(test.words, none) {
				t.Errorf("%s: %s, want it not to say %q", name, test.words, none)
			}
		}
	}
	for _, errno := range []error{unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.ENOSPC, unix.EDQUOT, unix.EFBIG, unix.EIO} {
		if err := cause(errno, -1, 0); !errors.Is(err, errno) {
			t.Errorf("the cause of %v is %v", errno, err)
		}
	}
}
