package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// stubborn says, in the environment, that this process is to be a command that
// takes for ever to end after it was interrupted.
const stubborn = "CLI_TEST_STUBBORN"

func TestMain(m *testing.M) {
	if os.Getenv(stubborn) == "" {
		os.Exit(m.Run())
	}
	os.Args = os.Args[:1]
	cli.Main(&cobra.Command{Use: "tool", RunE: func(cmd *cobra.Command, _ []string) error {
		fmt.Println("running")
		<-cmd.Context().Done()
		fmt.Println("ending")
		time.Sleep(500 * time.Millisecond)
		fmt.Println("still ending")
		select {}
	}})
}

func TestSecondInterruptEndsAtOnceWithAWord(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), stubborn+"=1")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	interrupt := func() {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewScanner(out)
	await := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("%q, want %q", lines.Text(), want)
		}
	}
	await("running")
	interrupt()
	await("ending")
	interrupt() // as passed on by another program: the same one
	await("still ending")
	interrupt()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != cli.Failed {
		t.Errorf("it ends with %v", err)
	}
	if errs.String() != "tool: interrupted again: ended at once, what was not finished is not written\n" {
		t.Errorf("it says %q", errs.String())
	}
}
