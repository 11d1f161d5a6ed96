package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// tree is a small command: tool read FILE --rate n, tool serve, tool serve status, tool group leaf.
func tree() *cobra.Command {
	root := &cobra.Command{Use: "tool"}
	read := &cobra.Command{Use: "read FILE", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		switch args[0] {
		case "bad":
			return errors.New("bad: line 3: cannot be read,\n\tremove it")
		case "odd":
			return fmt.Errorf("checking: %w", cli.Usage("--rate %d must be positive", -1))
		case "slow":
			<-cmd.Context().Done()
			return fmt.Errorf("reading: %w", context.Cause(cmd.Context()))
		}
		fmt.Fprintln(cmd.OutOrStdout(), "read")
		return nil
	}}
	read.Flags().Int("rate", 0, "")
	read.Flags().Uint64("seed", 1, "")
	read.Flags().Duration("for", 0, "")
	read.Flags().DurationSlice("at", nil, "times")
	read.Flags().Float64Slice("rates", []float64{100, 0.5}, "rates")
	need := &cobra.Command{Use: "need", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return nil }}
	need.Flags().String("out", "", "")
	if err := need.MarkFlagRequired("out"); err != nil {
		panic(err)
	}
	serve := &cobra.Command{Use: "serve", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return nil }}
	serve.AddCommand(&cobra.Command{Use: "status", RunE: func(*cobra.Command, []string) error { return nil }})
	group := &cobra.Command{Use: "group"}
	group.AddCommand(&cobra.Command{Use: "leaf", RunE: func(*cobra.Command, []string) error { return nil }})
	root.AddCommand(read, need, serve, group)
	return root
}

func TestExitCodes(t *testing.T) {
	cases := []struct {
		args string
		code int
		line string // part of the one line on standard error
	}{
		{"read a", cli.Done, ""},
		{"group leaf", cli.Done, ""},
		{"--help", cli.Done, ""},
		{"read bad", cli.Failed, "tool: bad: line 3: cannot be read, remove it\n"},
		{"read odd", cli.Wrong, "--rate -1 must be positive (see tool read --help)"},
		{"read", cli.Wrong, "accepts 1 arg"},
		{"--version", cli.Done, ""},
		{"read a --rate x", cli.Wrong, "--rate x is not a whole number (see tool read --help)"},
		{"read a --rate 99999999999999999999", cli.Wrong, "--rate 99999999999999999999 is out of range"},
		{"read a --seed -1", cli.Wrong, "--seed -1 is not a whole number from 0 on"},
		{"read a --for 1", cli.Wrong, "--for 1 is not a duration such as"},
		{"read a --at 1s,x", cli.Wrong, "--at 1s,x is not durations separated by commas"},
		{"read a --seed", cli.Wrong, "flag needs an argument: --seed"},
		{"read a --wobble 1", cli.Wrong, "unknown flag: --wobble (see"},
		{"read a --sede 1", cli.Wrong, "unknown flag: --sede; did you mean --seed? (see tool read --help)"},
		{"need", cli.Wrong, `"out" not set`},
		{"need a --out b", cli.Wrong, `unexpected argument "a": files and values are given by flags (see tool need --help)`},
		{"raed a", cli.Wrong, `did you mean read?`},
		{"raed a --rate 1", cli.Wrong, `unknown command "raed", expected one of group, need, read, serve; did you mean read?`},
		{"", cli.Wrong, "missing subcommand: group, need, read, serve"},
		{"group", cli.Wrong, "missing subcommand: leaf"},
		{"serve", cli.Done, ""},
		{"serve statsu", cli.Wrong, `unknown command "statsu", expected one of status; did you mean status?`},
		{"group twig", cli.Wrong, `unknown command "twig", expected one of leaf`},
	}
	for _, c := range cases {
		root := tree()
		var out, errs bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&errs)
		root.SetArgs(strings.Fields(c.args))
		code := cli.Run(context.Background(), root)
		if code != c.code || !strings.Contains(errs.String(), c.line) {
			t.Errorf("%q: exit %d, stderr %q; want %d, %q", c.args, code, errs.String(), c.code, c.line)
		}
		want := 1
		if c.code == cli.Done {
			want = 0
		} else if out.Len() != 0 {
			t.Errorf("%q: standard output holds %q", c.args, out.String())
		}
		if got := strings.Count(errs.String(), "\n"); got != want {
			t.Errorf("%q: %d lines on standard error: %q", c.args, got, errs.String())
		}
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	root := tree()
	var errs bytes.Buffer
	root.SetErr(&errs)
	root.SetArgs([]string{"read", "slow"})
	cancel()
	if code := cli.Run(ctx, root); code != cli.Failed || errs.String() != "tool: interrupted\n" {
		t.Errorf("exit %d, %q", code, errs.String())
	}
}

func TestHelpHasPlainDefaults(t *testing.T) {
	root := tree()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"read", "--help"})
	if code := cli.Run(context.Background(), root); code != cli.Done {
		t.Fatal(code)
	}
	if s := out.String(); strings.Contains(s, "[]") || !strings.Contains(s, "rates (default 100,0.5)\n") || !strings.Contains(s, "times\n") {
		t.Error(s)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 samples", 1: "1 sample", 2: "2 samples"} {
		if got := cli.Count(n, "sample"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
