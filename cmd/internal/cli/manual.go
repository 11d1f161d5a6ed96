package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Manual writes the manual page of a command, as man(7) describes it. files says
// what stands under FILES of the root's page, empty for nothing.
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
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(&b, ".TP\n.B \\-\\-%s %s\n%s\n", roff(f.Name), roff(kind), roff(usage))
	})
	for i, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if i == 0 {
			b.WriteString(".SH COMMANDS\n")
		}
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	b.WriteString(".SH EXIT STATUS\n0: done. 1: failed, with the reason on standard error. 2: wrong usage.\n")
	if cmd == cmd.Root() && files != "" {
		fmt.Fprintf(&b, ".SH FILES\n%s\n", roff(files))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

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
