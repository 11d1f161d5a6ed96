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
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// patience is how long is waited for the server.
const patience = 10 * time.Second

// inboxes are the prefixes on which commands are answered; others are operators'.
var inboxes = map[string]string{"worker": "_INBOX_worker", "status": "_INBOX_viewer"}

// inboxOf returns the prefix on which a role is answered.
func inboxOf(role string) string {
	kind, v, _ := strings.Cut(role, ".")
	if kind == "robot" {
		return wire.EstimatorInbox(v)
	}
	return "_INBOX_" + kind
}

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
	nc     *nats.Conn
	logs   *fleet.Logs
	queue  *fleet.Queue
	models *fleet.Models
}

func open(ctx context.Context, nc *nats.Conn) (c client, err error) {
	c.nc = nc
	if c.logs, err = fleet.OpenLogs(ctx, nc); err != nil {
		return c, err
	}
	if c.queue, err = fleet.OpenQueue(ctx, nc); err != nil {
		return c, err
	}
	c.models, err = fleet.OpenModels(ctx, nc)
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
	var removeOld bool
	keepJobs := days(30 * 24 * time.Hour)
	a := accounts{listen: "127.0.0.1:4222"}
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Create the stores of a fleet on a NATS server with JetStream, or change their limits",
		Long: `Create the streams and stores of a fleet on a NATS server with JetStream, or change their limits. Stored
data are kept, except logs older than --keep, and the states of jobs that ended longer ago than --keep-jobs.

A server writes to disk every two minutes by default, and a power failure loses the acknowledged data since then.
With one replica, set sync_interval: always in its jetstream block. In a cluster one replica is refused, and three
servers have all data.

With --accounts it connects to nothing: it writes the configuration of a server on which every role and every robot
has its own account and key, and creates missing keys. Run it again with more --robots, and send the server SIGHUP.
Then run it without --accounts, with --robots and the operator's key, to create the stores. dgm-fleet audit tests the permissions.

With --valid each role gets credentials that expire, keys/ROLE.creds, for --creds instead of --nkey; the server then disconnects
their users. Run it again before that, and copy the files again: a running program reads its file when it reconnects.`,
		Example: `  dgm-fleet setup --keep 90d --log-bytes 500000000000
  dgm-fleet setup --accounts fleet --robots drone-1,drone-2 --listen 0.0.0.0:4222 --server-cert cert.pem --server-key key.pem
  dgm-fleet setup --accounts fleet --robots drone-1,drone-2 --valid 30d --rotate robot.drone-1
  dgm-fleet setup --nkey fleet/keys/operator.nk --robots drone-1,drone-2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case s.Replicas != 0 && s.Replicas != 1 && s.Replicas != 3 && s.Replicas != 5:
				return cli.Usage("--replicas %d is not 1, 3 or 5", s.Replicas)
			case s.LogBytes < 0:
				return cli.Usage("--log-bytes %d is negative", s.LogBytes)
			case s.ModelBytes < 0:
				return cli.Usage("--model-bytes %d is negative", s.ModelBytes)
			}
			if time.Duration(keepJobs) < time.Second {
				return cli.Usage("--keep-jobs %v must be at least 1s", time.Duration(keepJobs))
			}
			s.Keep, s.KeepJobs = time.Duration(keep), time.Duration(keepJobs)
			if s.Robots = a.robots; a.dir != "" {
				files, err := a.write()
				for _, f := range files {
					fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", f)
				}
				return err
			}
			nc, err := connect(cmd, &server)
			if err != nil {
				return err
			}
			defer nc.Close()
			if err := fleet.Setup(cmd.Context(), nc, s); err != nil {
				return err
			}
			if err := tidy(cmd, nc, removeOld); err != nil {
				return err
			}
			if nc.ConnectedClusterName() == "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "dgm-fleet: one replica: set sync_interval: always in the server's jetstream block, else a power failure loses the data acknowledged in the last two minutes")
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "The fleet's stores are ready.")
			return err
		},
	}
	f := cmd.Flags()
	f.Var(&keep, "keep", "how long logs are kept, such as 90d (default: without limit)")
	f.Var(&keepJobs, "keep-jobs", "how long states of jobs are kept after their end")
	f.Int64Var(&s.LogBytes, "log-bytes", 0, "limit in bytes of each store of logs, the common one and those of --robots; uploads beyond it are refused (default: an equal part of half of the server's space; in a cluster without limit)")
	f.Int64Var(&s.ModelBytes, "model-bytes", 0, "limit in bytes of each store of models (default: an equal part of an eighth of the server's space; in a cluster without limit)")
	f.StringSliceVar(&a.robots, "robots", nil, "vehicles with their own stores, and with --accounts their own keys")
	f.StringVar(&a.dir, "accounts", "", "folder in which to write a server's configuration, nats.conf, and keys, one for each role")
	f.BoolVar(&removeOld, "remove-old", false, "remove the key-value stores of earlier versions with their contents; nothing reads them")
	f.Var(&a.valid, "valid", "with --accounts: how long credentials are valid from now on, such as 30d (default: keys that do not expire)")
	f.StringSliceVar(&a.rotate, "rotate", nil, "with --accounts: roles that get a new key, such as robot.drone-1; the old one is refused")
	f.StringVar(&a.listen, "listen", a.listen, "with --accounts: address of the server")
	f.StringVar(&a.cert, "server-cert", "", "with --accounts: certificate of the server")
	f.StringVar(&a.key, "server-key", "", "with --accounts: private key of the certificate")
	f.StringVar(&a.websocket, "websocket", "", "with --accounts: address for browsers (default: none)")
	f.StringSliceVar(&a.origins, "origins", nil, "with --websocket: addresses of the pages that may use it")
	f.IntVar(&s.Replicas, "replicas", 0, "copies of all data, each on another server of a cluster: 3 or 5 (default: 3 in a cluster, else 1)")
	server.Add(f)
	return cmd
}

// tidy removes the stores of earlier versions, or names them.
func tidy(cmd *cobra.Command, nc *nats.Conn, remove bool) error {
	if !remove {
		names, err := fleet.OldStores(cmd.Context(), nc)
		if len(names) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "dgm-fleet: %s\n", oldStores(names))
		}
		return err
	}
	names, err := fleet.RemoveOldStores(cmd.Context(), nc)
	for _, name := range names {
		fmt.Fprintf(cmd.OutOrStdout(), "removed the key-value store %s\n", name)
	}
	return err
}

// oldStores says which stores of earlier versions there are, and how to remove them.
func oldStores(names []string) string {
	return fmt.Sprintf("there are unused key-value stores of an earlier version: %s; to remove them: dgm-fleet setup --remove-old", strings.Join(names, ", "))
}
