package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// completions are what the shell is told of a command line whose last word is being typed, without descriptions,
// and how it is to be used.
func completions(t *testing.T, words ...string) (names []string, directive string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := execute(t.Context(), append([]string{"__complete"}, words...), nil, &out, &errs); code != 0 {
		t.Fatalf("%q: exit code %d: %s", words, code, errs.String())
	}
	for line := range strings.Lines(out.String()) {
		name, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(name, ":") {
			return names, name
		}
		names = append(names, name)
	}
	t.Fatalf("%q: no directive in %s", words, out.String())
	return nil, ""
}

func TestCompletions(t *testing.T) {
	const directories = ":16"
	for _, c := range []struct {
		words     []string
		has, not  []string
		directive string
	}{
		{[]string{""}, []string{"run", "report", "check", "completion"}, []string{"execute", "pressure", "torture", "man"}, ""},
		{[]string{"run", "--stra"}, []string{"--strategies"}, []string{"--seed"}, ""},
		{[]string{"run", "--strategies", ""}, []string{"core", "all", "mutex", "actor"}, nil, ""},
		{[]string{"run", "--strategies", "mutex,raw,"}, []string{"mutex,raw,actor"}, []string{"mutex,raw,mutex", "actor"}, ""},
		{[]string{"check", "--strategies", "atomics,"}, []string{"atomics,actor"}, nil, ""},
		{[]string{"run", "--workloads", "mix,"}, []string{"mix,tail"}, []string{"mix,mix"}, ""},
		{[]string{"run", "--preset", ""}, []string{"default"}, nil, ""},
		{[]string{"run", "--baseline", ""}, []string{"mutex"}, nil, ""},
		{[]string{"run", "--out", ""}, nil, nil, directories},
		{[]string{"run", "--dir", ""}, nil, nil, directories},
		{[]string{"report", ""}, nil, nil, directories},
		{[]string{"report", "one", ""}, nil, nil, directories},
		{[]string{"completion", ""}, []string{"bash", "zsh", "fish", "powershell"}, nil, ""},
		{[]string{"list", ""}, []string{"strategies", "workloads"}, nil, ""},
	} {
		names, directive := completions(t, c.words...)
		for _, name := range c.has {
			if !slices.Contains(names, name) {
				t.Errorf("%q: %q has no %s", c.words, names, name)
			}
		}
		for _, name := range c.not {
			if slices.Contains(names, name) {
				t.Errorf("%q: %q has %s", c.words, names, name)
			}
		}
		if c.directive != "" && directive != c.directive {
			t.Errorf("%q: directive %s, want %s", c.words, directive, c.directive)
		}
	}
}

// completeInBash completes each line of its input as the Tab key does, and prints what bash would offer. Where
// the package bash-completion is not installed, two functions stand in for it.
const completeInBash = `
if [[ -r /usr/share/bash-completion/bash_completion ]]; then
	. /usr/share/bash-completion/bash_completion
else
	_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}; }
	_filedir() { mapfile -t COMPREPLY < <(compgen -d -- "$cur"); }
fi
. <(tailrace completion bash)
compopt() { :; } # it works only below a key
while IFS= read -r line; do
	read -ra COMP_WORDS <<<"$line"
	[[ $line == *' ' ]] && COMP_WORDS+=('')
	COMP_LINE=$line COMP_POINT=${#line} COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_TYPE=9 COMP_KEY=9 COMPREPLY=()
	__start_tailrace
	printf '%s:' "$line"
	printf ' %s' "${COMPREPLY[@]%% *}"
	echo
done
`

func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	dir := t.TempDir()
	err = errors.Join(os.MkdirAll(filepath.Join(dir, "out", "latest"), 0o755), os.WriteFile(filepath.Join(dir, "ours.txt"), nil, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	const want = `tailrace rep: report
tailrace run --stra: --strategies
tailrace run --strategies ato: atomics
tailrace run --strategies mutex,: mutex,core mutex,all
tailrace run --strategies mutex,ato: mutex,atomics
tailrace run --strategies mutex,raw,mutex-: mutex,raw,mutex-brief mutex,raw,mutex-rcu mutex,raw,mutex-group
tailrace run --workloads mix,ing: mix,ingest
tailrace run --preset d: default
tailrace run --strategies nothing: 
tailrace report o: out
tailrace completion f: fish
`
	var lines strings.Builder
	for line := range strings.Lines(want) {
		typed, _, _ := strings.Cut(line, ":")
		lines.WriteString(typed + "\n")
	}
	shell := exec.Command(bash, "--norc", "--noprofile", "-c", completeInBash)
	shell.Dir = dir
	shell.Stdin = strings.NewReader(lines.String())
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	got := strings.Split(string(output), "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(got) || !strings.HasPrefix(got[i], line) || got[i] != line && !strings.HasSuffix(line, "all") {
			t.Errorf("want %q\n%s", line, output)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var script, errs bytes.Buffer
		if code := execute(t.Context(), []string{"completion", shell}, nil, &script, &errs); code != 0 || errs.Len() > 0 || !strings.Contains(script.String(), "tailrace") {
			t.Errorf("%s: exit code %d, %s", shell, code, errs.String())
		}
		if shell == "powershell" {
			continue
		}
		path := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(path, script.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		output, err := exec.Command(shell, "-n", path).CombinedOutput()
		if err != nil && !errors.Is(err, exec.ErrNotFound) || len(output) > 0 {
			t.Errorf("%s does not take its script: %v\n%s", shell, err, output)
		}
	}
	for _, args := range [][]string{{"completion"}, {"completion", "bash", "zsh"}} {
		var out, errs bytes.Buffer
		const want = "tailrace: completion: give one shell of bash, zsh, fish, powershell\n"
		if code := execute(t.Context(), args, nil, &out, &errs); code != exitUsage || out.Len() > 0 || errs.String() != want {
			t.Errorf("%q: exit code %d, %s", args, code, errs.String())
		}
	}
}
