package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// stubborn, in the environment, makes this process a command that does not end after it
// was interrupted.
const stubborn = "CLI_TEST_STUBBORN"

func TestMain(m *testing.M) {
	if os.Getenv(stubborn) == "" {
		os.Exit(m.Run())
	}
	os.Args = os.Args[:1]
	run := cli.Main
	if os.Getenv(stubborn) == "reload" {
		run = cli.MainReload
	}
	run(&cobra.Command{Use: "tool", RunE: func(cmd *cobra.Command, _ []string) error {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGUSR1)
		go func() {
			for range asked {
				fmt.Println("interrupted:", cmd.Context().Err() != nil)
			}
		}()
		fmt.Println("running")
		<-cmd.Context().Done()
		fmt.Println("ending")
		time.Sleep(500 * time.Millisecond)
		fmt.Println("still ending")
		select {}
	}})
}

// tool is a stubborn command in a process of its own.
type tool struct {
	*exec.Cmd
	errs  bytes.Buffer
	lines *bufio.Scanner
}

func start(t *testing.T, how string, command ...string) *tool {
	t.Helper()
	c := &tool{Cmd: exec.Command(command[0], command[1:]...)}
	c.Env = append(os.Environ(), stubborn+"="+how)
	c.Stderr = &c.errs
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	c.await(t, "running")
	return c
}

func (c *tool) send(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func (c *tool) await(t *testing.T, want string) {
	t.Helper()
	if !c.lines.Scan() || c.lines.Text() != want {
		t.Fatalf("%q, want %q", c.lines.Text(), want)
	}
}

// reports asks the command for its state, often enough for a signal to have arrived.
func (c *tool) reports(t *testing.T, want string) {
	t.Helper()
	for range 20 {
		c.send(t, syscall.SIGUSR1)
		c.await(t, want)
	}
}

// ends checks that the process ended by itself after a second interrupt.
func (c *tool) ends(t *testing.T) {
	t.Helper()
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != cli.Failed {
		t.Errorf("it ends with %v", err)
	}
	if c.errs.String() != "tool: interrupted again: ended at once, unfinished files are not written\n" {
		t.Errorf("messages %q", c.errs.String())
	}
}

func TestSecondInterruptEndsAtOnce(t *testing.T) {
	for {
		c := start(t, "yes", os.Args[0])
		began := time.Now()
		c.send(t, syscall.SIGINT)
		c.await(t, "ending")
		c.send(t, syscall.SIGINT) // as passed on by another program: the same one
		if !c.lines.Scan() {
			if took := time.Since(began); took < 300*time.Millisecond {
				t.Fatalf("a second interrupt within %v ends it", took)
			}
			_ = c.Wait() // with an error
			continue     // it came too late to be the same one
		}
		if c.lines.Text() != "still ending" {
			t.Fatal(c.lines.Text())
		}
		c.send(t, syscall.SIGINT)
		c.ends(t)
		return
	}
}

// A closed terminal interrupts a command; a second SIGHUP does not end it at once.
func TestHangupInterruptsOnce(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests were started with nohup: what they start ignores hang-ups too")
	}
	c := start(t, "yes", os.Args[0])
	c.send(t, syscall.SIGHUP)
	c.await(t, "ending")
	c.await(t, "still ending")
	c.send(t, syscall.SIGHUP)
	c.reports(t, "interrupted: true")
	c.send(t, syscall.SIGINT)
	c.ends(t)
}

// Under nohup, and for a command that reads its files again, SIGHUP does not interrupt.
func TestHangupThatDoesNotEnd(t *testing.T) {
	for _, c := range []*tool{
		start(t, "yes", "/bin/sh", "-c", `trap "" HUP; exec "$0"`, os.Args[0]),
		start(t, "reload", os.Args[0]),
	} {
		c.send(t, syscall.SIGHUP)
		c.reports(t, "interrupted: false")
		c.send(t, syscall.SIGINT)
		c.await(t, "ending")
		c.await(t, "still ending")
		c.send(t, syscall.SIGINT)
		c.ends(t)
	}
}
