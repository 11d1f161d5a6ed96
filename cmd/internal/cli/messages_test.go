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

func TestAFileIsWrittenAsItIs(t *testing.T) {
	if w, _ := serialised(os.Stderr); w != os.Stderr {
		t.Error("standard error is wrapped: a terminal would not be recognised")
	}
}
