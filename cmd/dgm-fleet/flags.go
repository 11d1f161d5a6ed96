package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/link"
)

// patience is how long is waited for the server.
const patience = 10 * time.Second

// inboxes are the prefixes on which commands are answered; others are operators'.
var inboxes = map[string]string{"worker": "_INBOX_worker", "status": "_INBOX_viewer"}

// connect connects for a command and waits for the server.
func connect(cmd *cobra.Command, server *link.Flags) (*nats.Conn, error) {
	server.Inbox = cmp.Or(inboxes[cmd.Name()], "_INBOX_operator")
	nc, err := server.Link("dgm-fleet "+cmd.Name(), func(text string) {
		fmt.Fprintf(cmd.ErrOrStderr(), "dgm-fleet: %s\n", text)
	}).Connect()
	if err != nil {
		return nil, err
	}
	if err := server.Await(cmd.Context(), nc, patience); err != nil {
		nc.Close()
		return nil, err
	}
	return nc, nil
}

// client is all that a fleet has stored.
type client struct {
	nc      *nats.Conn
	logs    *fleet.Logs
	queue   *fleet.Queue
	models  *fleet.Models
	studies *fleet.Studies
}

func open(ctx context.Context, nc *nats.Conn) (c client, err error) {
	c.nc = nc
	if c.logs, err = fleet.OpenLogs(ctx, nc); err != nil {
		return c, err
	}
	if c.queue, err = fleet.OpenQueue(ctx, nc); err != nil {
		return c, err
	}
	if c.models, err = fleet.OpenModels(ctx, nc); err != nil {
		return c, err
	}
	c.studies, err = fleet.OpenStudies(ctx, nc)
	return c, err
}

// with connects, opens the fleet, and calls a function with it.
func with(cmd *cobra.Command, server *link.Flags, do func(ctx context.Context, c client) error) error {
	nc, err := connect(cmd, server)
	if err != nil {
		return err
	}
	defer nc.Close()
	c, err := open(cmd.Context(), nc)
	if err != nil {
		return err
	}
	return do(cmd.Context(), c)
}

// lines is an output of several goroutines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func (l *lines) print(line string) { fmt.Fprintln(l, line) }

// days is a flag of a duration that may be given in days: 7d, 36h.
type days time.Duration

// Set implements pflag.Value.
func (d *days) Set(text string) error {
	if n, ok := strings.CutSuffix(text, "d"); ok {
		v, err := strconv.ParseFloat(n, 64)
		if err != nil || !(v >= 0 && v <= 36500) {
			return errors.New("is not a number of days such as 7d")
		}
		*d = days(v * 24 * float64(time.Hour))
		return nil
	}
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 {
		return errors.New("is not a time such as 7d or 36h")
	}
	*d = days(v)
	return nil
}

// String implements pflag.Value.
func (d *days) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type implements pflag.Value.
func (d *days) Type() string { return "time" }

func setupCommand() *cobra.Command {
	var server link.Flags
	var s fleet.Settings
	var keep days
	keepJobs := days(30 * 24 * time.Hour)
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Make what a fleet stores on a NATS server with JetStream, or change its limits",
		Long: `Make the streams and stores of a fleet on a NATS server with JetStream, or change their limits. What is
stored stays, except logs that are older than --keep, and the states of jobs that ended longer ago than --keep-jobs.

A server writes to disk every two minutes by default, and loses what it has acknowledged since when its power
fails: with one replica, set sync_interval: always in its jetstream block; in a cluster, where
one replica is refused, three servers hold everything.`,
		Example: "  dgm-fleet setup --keep 90d --log-bytes 500000000000",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case s.Replicas != 0 && s.Replicas != 1 && s.Replicas != 3 && s.Replicas != 5:
				return cli.Usage("--replicas %d is not 1, 3 or 5", s.Replicas)
			case s.LogBytes < 0:
				return cli.Usage("--log-bytes %d is negative", s.LogBytes)
			}
			if time.Duration(keepJobs) < time.Second {
				return cli.Usage("--keep-jobs %v must be at least 1s", time.Duration(keepJobs))
			}
			s.Keep, s.KeepJobs = time.Duration(keep), time.Duration(keepJobs)
			nc, err := connect(cmd, &server)
			if err != nil {
				return err
			}
			defer nc.Close()
			if err := fleet.Setup(cmd.Context(), nc, s); err != nil {
				return err
			}
			if nc.ConnectedClusterName() == "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "dgm-fleet: one replica: set sync_interval: always in the server's jetstream block, else a power failure loses what was acknowledged in the last two minutes")
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "The fleet's stores are ready.")
			return err
		},
	}
	f := cmd.Flags()
	f.Var(&keep, "keep", "how long logs are kept, such as 90d (default: without limit)")
	f.Var(&keepJobs, "keep-jobs", "how long states of jobs are kept after their end")
	f.Int64Var(&s.LogBytes, "log-bytes", 0, "most bytes of logs; uploads beyond it are refused (default: without limit)")
	f.IntVar(&s.Replicas, "replicas", 0, "copies of everything, on as many servers of a cluster: 3 or 5 (default: 3 in a cluster, else 1)")
	server.Add(f)
	return cmd
}
