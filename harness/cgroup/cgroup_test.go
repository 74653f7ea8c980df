package cgroup_test

import (
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"tailrace/harness/cgroup"
)

func TestFind(t *testing.T) {
	const (
		v1Mounts = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n" +
			"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n" +
			"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
		v2Mount = "24 23 0:22 / /sys/fs/cgroup rw,nosuid,nodev,noexec shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
		hybrid  = v1Mounts + "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
		// What a namespace without a mount of its own sees has its root above that of the namespace.
		above = "35 31 0:32 /../.. /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
	)
	for _, test := range []struct {
		name, groups, mounts string
		dirs                 []string // of groups
		chain                []string // by memory
		version              int
		err                  string
	}{
		{
			"version 1", "3:cpuset:/\n4:memory:/a/b\n1:cpu:/c\n", v1Mounts,
			[]string{"sys/fs/cgroup/memory/a/b", "sys/fs/cgroup/memory/a", "sys/fs/cgroup/memory"},
			[]string{"/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory"}, 1, "",
		},
		{
			"version 1, its root", "4:memory:/\n", v1Mounts, []string{"sys/fs/cgroup/memory"},
			[]string{"/sys/fs/cgroup/memory"}, 1, "",
		},
		{
			"version 1, with other controllers", "2:cpu,memory:/a:b\n", "7 1 0:3 / /cgroup rw - cgroup none rw,cpu,memory,xattr\n",
			[]string{"cgroup/a:b"}, []string{"/cgroup/a:b", "/cgroup"}, 1, "",
		},
		{
			"version 2", "0::/user.slice/shell.scope\n", v2Mount, []string{"sys/fs/cgroup/user.slice/shell.scope"},
			[]string{"/sys/fs/cgroup/user.slice/shell.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"}, 2, "",
		},
		{"version 2, the root of a namespace", "0::/\n", v2Mount, []string{"sys/fs/cgroup"}, []string{"/sys/fs/cgroup"}, 2, ""},
		{
			"both, memory in version 1", "9:name=systemd:/x\n4:memory:/a\n0::/b\n", hybrid,
			[]string{"sys/fs/cgroup/memory/a", "sys/fs/cgroup/unified/b"}, []string{"/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory"}, 1, "",
		},
		{
			"both, memory in version 2", "9:name=systemd:/x\n1:cpu:/a\n0::/b\n", hybrid,
			[]string{"sys/fs/cgroup/cpu/a", "sys/fs/cgroup/unified/b"}, []string{"/sys/fs/cgroup/unified/b", "/sys/fs/cgroup/unified"}, 2, "",
		},
		{
			"a container's part", "4:memory:/docker/abc/d\n", "8 1 0:3 /docker/ab /other rw - cgroup c rw,memory\n" +
				"9 1 0:3 /docker/abc /sys/fs/cgroup/memory ro - cgroup c rw,memory\n", []string{"sys/fs/cgroup/memory/d"},
			[]string{"/sys/fs/cgroup/memory/d", "/sys/fs/cgroup/memory"}, 1, "",
		},
		{"a container's own root", "0::/docker/abc\n", "9 1 0:3 /docker/abc /c rw - cgroup2 c rw\n", []string{"c"}, []string{"/c"}, 2, ""},
		{
			"a part over the whole", "4:memory:/a/b\n", v1Mounts + "50 35 0:32 /a/b /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
			[]string{"sys/fs/cgroup/memory"}, []string{"/sys/fs/cgroup/memory"}, 1, "",
		},
		{
			"a part beside the whole", "4:memory:/a/b\n", v1Mounts + "50 35 0:32 /a /mnt rw - cgroup cgroup rw,memory\n",
			[]string{"sys/fs/cgroup/memory/a/b", "mnt/b"}, []string{"/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory"}, 1, "",
		},
		{
			"hidden, and mounted elsewhere", "0::/a/b\n", v2Mount + "50 35 0:9 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n" +
				"51 50 0:22 / /mnt rw - cgroup2 cgroup2 rw\n", []string{"mnt/a/b"}, []string{"/mnt/a/b", "/mnt/a", "/mnt"}, 2, "",
		},
		{"invisible itself", "0::/a/b (deleted)\n", v2Mount, []string{"sys/fs/cgroup/a"}, []string{"/sys/fs/cgroup/a", "/sys/fs/cgroup"}, 2, ""},
		{"blanks", "0::/a b\n", `9 1 0:3 / /my\040groups\134x rw - cgroup2 c rw` + "\n", []string{`my groups\x/a b`}, []string{`/my groups\x/a b`, `/my groups\x`}, 2, ""},
		{"hidden", "0::/a\n", v2Mount, nil, nil, 0, "cgroup: the control group /a of this process is not mounted"},
		{"outside of the namespace", "0::/../a\n", v2Mount, []string{"sys/fs/cgroup"}, nil, 0, "cgroup: the control group /../a of this process is not mounted"},
		{"above what is mounted", "0::/../../a\n", "9 1 0:3 /.. /c rw - cgroup2 c rw\n", []string{"c"}, nil, 0, "cgroup: the control group /../../a of this process is not mounted"},
		{"a namespace below what is mounted", "4:memory:/\n", above, []string{"sys/fs/cgroup/memory"}, nil, 0, "cgroup: the control group / of this process is not mounted"},
		{"not mounted", "4:memory:/a\n", v2Mount, []string{"sys/fs/cgroup"}, nil, 0, "cgroup: the control group /a of this process is not mounted"},
		{"mounts of no sense", "0::/a\n", "\n - \n1 2 - cgroup2\n1 2 3 / x rw - cgroup2 c rw\n", nil, nil, 0, "cgroup: the control group /a of this process is not mounted"},
		{"no groups", "no sense\n\n1:cpu:/\n", v2Mount, []string{"sys/fs/cgroup"}, nil, 0, "cgroup: this process is in no control group of memory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := fstest.MapFS{
				"proc/self/cgroup":    {Data: []byte(test.groups)},
				"proc/self/mountinfo": {Data: []byte(test.mounts)},
			}
			for _, dir := range test.dirs {
				for ; dir != "." && dir != "sys/fs"; dir = path.Dir(dir) {
					root[dir+"/cgroup.procs"] = &fstest.MapFile{}
				}
			}
			group, err := cgroup.Find(root, "memory")
			if err != nil || test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("error %v, want %q", err, test.err)
				}
				return
			}
			var chain []string
			for g := range group.Chain() {
				chain = append(chain, g.Dir)
			}
			if !slices.Equal(chain, test.chain) || group.Version != test.version {
				t.Errorf("%q of version %d, want %q of version %d", chain, group.Version, test.chain, test.version)
			}
		})
	}
}

func TestNoProcFileSystem(t *testing.T) {
	for _, root := range []fstest.MapFS{{}, {"proc/self/cgroup": {Data: []byte("0::/\n")}}} {
		if group, err := cgroup.Find(root, "cpu"); err == nil {
			t.Errorf("found %v", group)
		}
	}
}
