package main

import (
	"github.com/spf13/cobra"
)

// newHelp takes the place of the command that cobra adds by itself, which takes a misspelt name for no error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND]",
		Short:                 "Show the help of a command",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 && of == cmd.Root() {
				return knownCommand(cmd.Root(), args)
			}
			if len(rest) > 0 {
				return usagef("%s: tailrace %s has no commands of its own; see its --help", rest[0], of.Name())
			}
			of.InitDefaultHelpFlag()
			of.InitDefaultVersionFlag()
			return of.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var choices []string
			for _, c := range subcommands(cmd.Root()) {
				if len(args) == 0 {
					choices = append(choices, c.Name()+"\t"+c.Short)
				}
			}
			return choices, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
