package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const completionLong = `Print the script with which a shell completes commands, flags, and the names that
flags take: strategies and workloads, also within a list, presets, directories.

  bash        source <(tailrace completion bash)
              for good, and with the package bash-completion:
              tailrace completion bash > ~/.local/share/bash-completion/completions/tailrace
  zsh         source <(tailrace completion zsh), after compinit; for good:
              tailrace completion zsh > "${fpath[1]}/_tailrace"
  fish        tailrace completion fish > ~/.config/fish/completions/tailrace.fish
  powershell  tailrace completion powershell | Out-String | Invoke-Expression

make install puts the first three where all users have them.`

// newCompletion takes the place of the command that cobra adds by itself, whose script for bash does not complete
// lists.
func newCompletion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:                   "completion SHELL",
		Short:                 "Print the script that completes commands and names in a shell",
		Long:                  completionLong,
		Example:               "  source <(tailrace completion bash)",
		ValidArgs:             shells,
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return usagef("completion: give one shell of %s", strings.Join(shells, ", "))
			case !slices.Contains(shells, args[0]):
				return usagef("%s: no completion for such a shell; there are %s", args[0], strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			const withDescriptions = true
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, withDescriptions)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return writeBashCompletion(root, out)
		},
	}
}

// bashLists is a function of cobra's script, made anew: that one compares what was typed with what bash's printf
// %q makes of a choice, which escapes the commas of a list, so that nothing is found after the first.
const bashLists = `
__tailrace_handle_standard_completion_case() {
    local tab=$'\t' choice word found longest=0
    for choice in "${completions[@]}"; do
        printf -v word %q "${choice%%"$tab"*}"
        word=${word//\\,/,}
        [[ $word == "$cur"* ]] || continue
        COMPREPLY+=("$choice")
        found=$word
        choice=${choice%%"$tab"*}
        ((${#choice} > longest)) && longest=${#choice}
    done
    case ${#COMPREPLY[@]} in
    0) ;;
    1) COMPREPLY[0]=$found ;;
    *) __tailrace_format_comp_descriptions $longest ;;
    esac
}
`

// unquoted leaves out the backquotes of what a shell is told: they mark the name of a flag's value for the help.
type unquoted struct{ io.Writer }

func (u unquoted) Write(p []byte) (int, error) {
	if _, err := u.Writer.Write(bytes.ReplaceAll(p, []byte("`"), nil)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// bashEntry is the first line of the function that cobra's script registers with bash.
const bashEntry = "__start_tailrace()\n"

func writeBashCompletion(root *cobra.Command, out io.Writer) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, true); err != nil {
		return err
	}
	_, err := fmt.Fprint(out, strings.Replace(script.String(), bashEntry, bashLists+"\n"+bashEntry, 1))
	return err
}
