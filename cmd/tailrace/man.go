package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tailrace/results"
)

// manualDate stands on every page in place of the day on which it is written, so that one version always writes
// the same pages. It is that of the last change to what they say as a whole.
const manualDate = "2026-11-30"

// newMan is the command with which make install writes the manual.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:                   "man DIR",
		Short:                 "Write the manual pages into a directory",
		Hidden:                true,
		Args:                  manualDirectory,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if results.CheckForeign(args[0], "*.[1-9]", "*.[1-9].gz") != nil {
				return usagef("%s: %w and no manual; name a new directory, or an empty one", args[0], results.ErrForeign)
			}
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			cmd.Root().InitDefaultVersionFlag()
			return writeManual(cmd.Root(), args[0])
		},
		ValidArgsFunction: completeDirectories,
	}
}

func manualDirectory(_ *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return usagef("man: give one directory, as in tailrace man /usr/local/share/man/man1")
	}
	return nil
}

// writeManual writes a page for a command and for each below it, but for those that are hidden.
func writeManual(cmd *cobra.Command, dir string) error {
	path := filepath.Join(dir, manualName(cmd)+".1")
	if err := os.WriteFile(path, []byte(manualPage(cmd)), 0o666); err != nil {
		return err
	}
	for _, sub := range subcommands(cmd) {
		if err := writeManual(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

func manualName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// subcommands are those that users are told of, help apart.
func subcommands(cmd *cobra.Command) []*cobra.Command {
	var known []*cobra.Command
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub)
		}
	}
	return known
}

// manualPage is the page of a command in the macros of man(7).
func manualPage(cmd *cobra.Command) string {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH %s 1 %s \"tailrace %s\" \"tailrace manual\"\n", strings.ToUpper(manualName(cmd)), manualDate, roffText(cmd.Root().Version))
	fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n", roffText(manualName(cmd)), roffText(cmd.Short))
	fmt.Fprintf(&page, ".SH SYNOPSIS\n.B %s\n%s\n", roffText(cmd.CommandPath()), roffText(synopsis(cmd)))
	page.WriteString(".SH DESCRIPTION\n")
	roffProse(&page, cmd.Long)
	if subs := subcommands(cmd); len(subs) > 0 {
		page.WriteString(".SH COMMANDS\n")
		for _, sub := range subs {
			fmt.Fprintf(&page, ".TP\n.B %s\n%s\n", roffText(sub.Name()), roffText(sub.Short))
		}
	}
	roffFlags(&page, cmd)
	if cmd.Example != "" {
		fmt.Fprintf(&page, ".SH EXAMPLES\n.EX\n%s\n.EE\n", roffText(cmd.Example))
	}
	if related := seeAlso(cmd); related != "" {
		fmt.Fprintf(&page, ".SH SEE ALSO\n%s\n", related)
	}
	return page.String()
}

// synopsis is what follows the name of a command.
func synopsis(cmd *cobra.Command) string {
	arguments := strings.TrimSpace(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath()))
	if len(subcommands(cmd)) > 0 {
		arguments = "COMMAND"
	}
	return arguments
}

func roffFlags(page *strings.Builder, cmd *cobra.Command) {
	heading, group := ".SH OPTIONS\n", ""
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		page.WriteString(heading)
		heading = ""
		if title := groupTitle(f); title != group {
			fmt.Fprintf(page, ".SS %s\n", roffText(title))
			group = title
		}
		value, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(page, ".TP\n\\fB\\-\\-%s\\fR", roffText(f.Name))
		if value != "" {
			fmt.Fprintf(page, " \\fI%s\\fR", roffText(value))
		}
		if f.DefValue != "" && f.DefValue != "false" {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(page, "\n%s\n", roffText(usage))
	})
}

// seeAlso names the pages of the command above and of those below.
func seeAlso(cmd *cobra.Command) string {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, manualName(cmd.Parent()))
	}
	for _, sub := range subcommands(cmd) {
		pages = append(pages, manualName(sub))
	}
	for i, name := range pages {
		pages[i] = ".BR " + roffText(name) + " (1)"
	}
	return strings.Join(pages, " ,\n")
}

// roffProse writes paragraphs, which empty lines part; lines that begin with white space stay as they are.
func roffProse(page io.StringWriter, text string) {
	filled := true
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, " \n")
		switch asIs := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"); {
		case line == "" && filled:
			_, _ = page.WriteString(".PP\n")
			continue
		case line == "":
		case asIs && filled:
			_, _ = page.WriteString(".EX\n")
			filled = false
		case !asIs && !filled:
			_, _ = page.WriteString(".EE\n.PP\n")
			filled = true
		}
		_, _ = page.WriteString(roffText(strings.ReplaceAll(line, "\t", "    ")) + "\n")
	}
	if !filled {
		_, _ = page.WriteString(".EE\n")
	}
}

var roffEscapes = strings.NewReplacer(`\`, `\(rs`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roffText writes text so that troff takes nothing in it for its own: no escape, no request at the start of a line,
// and no sign that it would set as another.
func roffText(text string) string {
	lines := strings.Split(roffEscapes.Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
