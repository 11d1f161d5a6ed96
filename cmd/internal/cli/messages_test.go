package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
)

// A callback that outlives its command neither races with it nor writes behind it.
func TestCallbacksMayWriteMessages(t *testing.T) {
	var out bytes.Buffer
	var callbacks sync.WaitGroup
	ended := make(chan struct{})
	cmd := &cobra.Command{Use: "x", RunE: func(cmd *cobra.Command, _ []string) error {
		for range 4 {
			callbacks.Go(func() {
				for range 100 {
					fmt.Fprintln(cmd.ErrOrStderr(), "early")
				}
			})
		}
		callbacks.Wait()
		callbacks.Go(func() {
			<-ended
			fmt.Fprintln(cmd.ErrOrStderr(), "late")
		})
		return fmt.Errorf("it failed")
	}}
	cmd.SetArgs(nil)
	cmd.SetErr(&out)
	if code := Run(context.Background(), cmd); code != Failed {
		t.Errorf("exit %d", code)
	}
	close(ended)
	callbacks.Wait()
	if n := strings.Count(out.String(), "early\n"); n != 400 || strings.Contains(out.String(), "late") || !strings.HasSuffix(out.String(), "x: it failed\n") {
		t.Errorf("%d of 400 messages; it ends with %q", n, out.String()[max(0, out.Len()-40):])
	}
}

// A terminal is one behind the messages, too: a progress bar is drawn there.
func TestATerminalIsRecognised(t *testing.T) {
	tty, err := os.OpenFile("/dev/null", os.O_WRONLY, 0) // a character device, as a terminal
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	w, end := serialised(tty)
	if end(); !Terminal(w) {
		t.Error("it is not recognised")
	}
	if _, err := w.Write([]byte("after its end")); err != nil {
		t.Error(err)
	}
}

// What a peer has put into a message does not steer the terminal; what a progress bar writes does.
func TestMessagesAreShown(t *testing.T) {
	var out bytes.Buffer
	m, end := serialised(&out)
	for in, want := range map[string]string{
		"plain ° text\n\tgoes on\n": "plain ° text\n\tgoes on\n", "\r\x1b[K[==]": "\r\x1b[K[==]", "vehicle \x1b[2J\r\x07\n": `vehicle \x1b[2J\r\a` + "\n",
		"right \u202e left": `right \u202e left`, "not \xff text": "not \xff text", "": "",
	} {
		out.Reset()
		if n, err := m.Write([]byte(in)); err != nil || n != len(in) || out.String() != want {
			t.Errorf("%q is %q, want %q: %v", in, out.String(), want, err)
		}
	}
	end()
	if Terminal(m) {
		t.Error("a buffer is a terminal")
	}
}
