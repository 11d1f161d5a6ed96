package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Manual writes the manual page of a command, as man(7) describes it. files is
// the text under FILES on the root's page, a line for each, empty for none.
func Manual(w io.Writer, cmd *cobra.Command, files string) error {
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" dgm\n", strings.ToUpper(roff(name)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.br\n", roff(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	for _, paragraph := range strings.Split(cmd.Long, "\n\n") {
		fmt.Fprintf(&b, ".PP\n%s\n", roff(paragraph))
	}
	b.WriteString(".SH OPTIONS\n")
	cmd.InitDefaultHelpFlag() // cobra adds it when the command runs
	cmd.InitDefaultVersionFlag()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		if !slices.Contains(implied, f.DefValue) {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		names := "--" + f.Name
		if f.Shorthand != "" {
			names = "-" + f.Shorthand + ", " + names
		}
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(names+" "+kind)), roff(usage))
	})
	heading := ".SH COMMANDS\n"
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		b.WriteString(heading)
		heading = ""
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	b.WriteString(".SH EXIT STATUS\n0: done. 1: failed, with the reason on standard error. 2: wrong usage.\n")
	if cmd == cmd.Root() && files != "" {
		b.WriteString(".SH FILES\n")
		for _, file := range strings.Split(files, "\n") {
			fmt.Fprintf(&b, ".PP\n%s\n", roff(file))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// implied are defaults that are not printed.
var implied = []string{"", "0", "0s", "false", "[]"}

// roff escapes a text.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
