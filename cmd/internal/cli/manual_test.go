package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestManual(t *testing.T) {
	root := &cobra.Command{Use: "tool --in file", Short: "Do it", Long: "First.\n\n.hidden line\nback\\slash", Example: "  tool --in a"}
	root.Flags().String("in", "", "read this `file`")
	root.Flags().IntP("count", "n", 3, "so many")
	root.Flags().Bool("secret", false, "hidden")
	if err := root.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	root.AddCommand(&cobra.Command{Use: "first", Hidden: true, Run: func(*cobra.Command, []string) {}})
	root.AddCommand(&cobra.Command{Use: "sub", Short: "Do a part", Run: func(*cobra.Command, []string) {}})
	var b bytes.Buffer
	if err := Manual(&b, root, "/etc/tool\n/var/tool"); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		".TH TOOL 1", "tool \\- Do it", ".B tool \\-\\-in file", "\n.PP\nFirst.", "\\&.hidden line", "back\\eslash",
		".B \\-\\-in file\nread this file\n", ".B \\-n, \\-\\-count int\nso many (default 3)\n", ".B \\-h, \\-\\-help\n", ".SH COMMANDS\n.TP\n.B sub", ".SH FILES\n.PP\n/etc/tool\n.PP\n/var/tool\n", ".SH EXIT STATUS",
	} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("%q is not in it", part)
		}
	}
	if strings.Contains(b.String(), "secret") {
		t.Error("a hidden flag is printed")
	}
}
