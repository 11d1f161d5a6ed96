// Package cli is the frame around every command: it runs a cobra tree, ends it
// on SIGINT, SIGTERM and SIGHUP, and turns the outcome into an exit code and one
// line on standard error.
//
//	0  done
//	1  failed; the reason is one line on standard error
//	2  wrong usage: unknown command or flag, missing or contradicting arguments
//	3  refused: the result would lack what was asked for; a flag permits it
//
// A command returns an error for 1, [Usage] for 2 and [Refusal] for 3; standard output is
// its own.
// Every command has --version.
package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	Done    = 0
	Failed  = 1
	Wrong   = 2
	Refused = 3
)

// Refusal returns the error of a command that refuses to make a result which lacks what was
// asked for.
func Refusal(err error) error { return &refusal{err} }

type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

// Main runs the command with the arguments of the process and ends the process.
//
// The first SIGINT or SIGTERM cancels the context of the command, which then completes
// its work; the second ends the process at once, with a message. SIGHUP, which comes
// when a terminal is closed or its connection is lost, counts as a first signal only,
// however often it comes; under nohup it is ignored.
func Main(root *cobra.Command) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	end(root, ends)
}

// MainReload is Main for a command that reads its files again on SIGHUP. A SIGHUP before
// the command listens is dropped: by default it would end the process.
func MainReload(root *cobra.Command) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	end(root, []os.Signal{os.Interrupt, syscall.SIGTERM})
}

// end runs the command, ends it at the signals given, and ends the process.
func end(root *cobra.Command, ends []os.Signal) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, ends...)
	go func() {
		<-signals
		first := time.Now()
		cancel()
		for {
			if s := <-signals; s != syscall.SIGHUP && time.Since(first) >= sameInterrupt {
				break
			}
		}
		if Terminal(os.Stderr) {
			fmt.Fprint(os.Stderr, "\r\x1b[K\x1b[?25h") // removes a progress bar, shows the cursor
		}
		fmt.Fprintf(os.Stderr, "%s: interrupted again: ended at once, unfinished files are not written\n", root.Name())
		os.Exit(Failed)
	}()
	os.Exit(Run(ctx, root))
}

// sameInterrupt is the time after an interrupt within which another one counts as the
// same: a terminal sends it to all programs of a command line, and some forward it.
const sameInterrupt = 300 * time.Millisecond

// Run runs the command and returns its exit code. Tests set arguments and outputs by
// root.SetArgs, SetOut and SetErr.
func Run(ctx context.Context, root *cobra.Command) int {
	// Cobra would print the whole usage after a failed run.
	root.SilenceErrors, root.SilenceUsage = true, true
	root.DisableSuggestions = true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	errs, end := serialised(root.ErrOrStderr())
	defer end()
	root.SetErr(errs)
	began := false
	noteStart(root, &began)
	versionFlag(root)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return Done
	case errors.Is(err, errVersion):
		fmt.Fprintln(root.OutOrStdout(), root.Name(), Version())
		return Done
	}
	var usage *usageError
	wrong := !began || errors.As(err, &usage)
	text := err.Error()
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		text = "interrupted"
	}
	text = oneLine(text)
	if wrong {
		fmt.Fprintf(root.ErrOrStderr(), "%s: %s (see %s --help)\n", root.Name(), text, cmd.CommandPath())
		return Wrong
	}
	fmt.Fprintf(root.ErrOrStderr(), "%s: %s\n", root.Name(), remedied(cmd, err, text))
	if _, ok := errors.AsType[*refusal](err); ok {
		return Refused
	}
	return Failed
}

// noteStart sets began when a command of the tree begins to run: an error before that is
// cobra's about flags and arguments. A command that only has subcommands becomes
// wrong usage where cobra would print its help and succeed.
func noteStart(cmd *cobra.Command, began *bool) {
	plainDefaults(cmd)
	for _, sub := range cmd.Commands() {
		noteStart(sub, began)
	}
	if args := cmd.Args; args != nil {
		cmd.Args = func(cmd *cobra.Command, words []string) error {
			err := args(cmd, words)
			if err != nil && strings.HasPrefix(err.Error(), "unknown command") {
				return unexpected(cmd, words[0])
			}
			return err
		}
	}
	switch run := cmd.RunE; {
	case run != nil:
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			*began = true
			return run(cmd, args)
		}
	case cmd.HasSubCommands():
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return Usage("missing subcommand: %s", strings.Join(subcommands(cmd), ", "))
			}
			return unexpected(cmd, args[0])
		}
	}
}

// messages serialises writes to standard error, which callbacks of a library share with
// the command, and drops those after its end, but to a file of the operating system. What peers, maps and logs put into a message
// is shown, and does not steer the terminal.
type messages struct {
	mu    sync.Mutex
	w     io.Writer
	ended bool
}

// Write implements io.Writer.
func (m *messages) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return len(b), nil
	}
	if steers(b) {
		return m.w.Write(b)
	}
	if _, err := m.w.Write(printable(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// steers reports whether a write is of a progress bar or a picture, which begin so.
func steers(b []byte) bool { return len(b) > 0 && (b[0] == '\r' || b[0] == 0x1b) }

// printable returns a text with control characters, and those that turn the direction of writing, as Go writes them.
func printable(b []byte) []byte {
	control := func(r rune) bool {
		return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}
	if !bytes.ContainsFunc(b, control) {
		return b
	}
	var out []byte
	for _, r := range string(b) {
		if control(r) {
			q := strconv.QuoteRuneToASCII(r)
			out = append(out, q[1:len(q)-1]...)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func (m *messages) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
}

// serialised returns w, safe for callbacks, and a function that ends it.
func serialised(w io.Writer) (io.Writer, func()) {
	m := &messages{w: w}
	if _, ok := w.(*os.File); ok {
		return m, func() {}
	}
	return m, m.end
}
