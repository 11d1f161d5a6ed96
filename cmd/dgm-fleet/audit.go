package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

func auditCommand() *cobra.Command {
	var url, dir string
	var asJSON bool
	var valid days
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Test that the key of every role is refused all forbidden actions",
		Long: `Test, with the key of every role except the operator's, all forbidden actions: every request of JetStream's API on every
store, with replies to the own inbox or to a subject of others; consumers, mirrors, sources and republished streams that
deliver there; headers by which a server removes, traces or schedules messages; and messages on the subjects of others.
Print the actions that succeed; the exit code is 0 only if none does.

Without --nats it starts the server that dgm-fleet setup --accounts describes itself, on this computer, with two robots. With it,
--keys is the folder of the keys; actions that succeed change the data on that server.`,
		Example: "  dgm-fleet audit\n  dgm-fleet audit --nats nats://fleet.example.org:4222 --keys fleet/keys --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if (url == "") != (dir == "") {
				return cli.Usage("--nats and --keys go together: the server, and the keys of its roles")
			}
			if url == "" {
				s, keys, err := ownServer(cmd.Context(), valid, true)
				if err != nil {
					return err
				}
				defer os.RemoveAll(filepath.Dir(keys))
				defer s.WaitForShutdown()
				defer s.Shutdown()
				url, dir = s.ClientURL(), keys
			}
			robots, err := robotsOf(dir)
			if err == nil && len(robots) == 0 {
				err = errors.New("it holds no key of a robot")
			}
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			authority := fleet.Authority{Robots: robots}
			audit, err := authority.Examine(cmd.Context(), func(role string) (*nats.Conn, error) { return connectAs(url, dir, role) }, func(role string, tried int) {
				fmt.Fprintf(cmd.ErrOrStderr(), "dgm-fleet: %s: %d tried so far\n", role, tried)
			})
			if err != nil {
				return err
			}
			if err := printAudit(cmd, &audit, asJSON); err != nil {
				return err
			}
			if n := len(audit.Through); n > 0 {
				return fmt.Errorf("%d of %d got through", n, audit.Tried)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&url, "nats", "", "address of a running server (default: one is started)")
	f.StringVar(&dir, "keys", "", "folder with the keys of its roles")
	f.Var(&valid, "valid", "without --nats: its credentials expire, like those of dgm-fleet setup --valid")
	f.BoolVar(&asJSON, "json", false, "one JSON document on standard output and nothing else")
	return cmd
}

func printAudit(cmd *cobra.Command, a *fleet.Audit, asJSON bool) error {
	out := cmd.OutOrStdout()
	if asJSON {
		return json.NewEncoder(out).Encode(a)
	}
	for _, t := range a.Through {
		fmt.Fprintf(out, "%s: %s: %s\n", t.Role, t.Action, t.Target)
	}
	_, err := fmt.Fprintf(out, "%d tried, %d got through.\n", a.Tried, len(a.Through))
	return err
}

// connectAs connects with the credentials of a role, or with its key where there are none.
func connectAs(url, dir, role string) (*nats.Conn, error) {
	usual := []nats.Option{nats.CustomInboxPrefix(inboxOf(role)), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}
	if file := credsFile(dir, role); exists(file) {
		return nats.Connect(url, append(usual, nats.UserCredentials(file))...)
	}
	pair, err := readKey(dir, role)
	if err != nil {
		return nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	return nats.Connect(url, append(usual, nats.Nkey(public, pair.Sign))...)
}

// ownServer starts the server that setup describes, with the stores of two robots, each with a message where filled is set.
func ownServer(ctx context.Context, valid days, filled bool) (s *server.Server, keys string, err error) {
	dir, err := os.MkdirTemp("", "dgm-fleet-audit-")
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	a := accounts{dir: dir, listen: "127.0.0.1:4222", robots: []string{"drone-1", "drone-2"}, valid: valid}
	if _, err := a.write(); err != nil {
		return nil, "", err
	}
	o, err := server.ProcessConfigFile(filepath.Join(dir, serverFile))
	if err != nil {
		return nil, "", err
	}
	o.Port, o.NoLog, o.NoSigs = server.RANDOM_PORT, true, true
	if s, err = server.NewServer(o); err != nil {
		return nil, "", err
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		s.Shutdown()
		return nil, "", errors.New("the server does not start")
	}
	keys = filepath.Join(dir, keyFolder)
	nc, err := connectAs(s.ClientURL(), keys, fleet.RoleOperator)
	if err == nil {
		if err = fleet.Setup(ctx, nc, fleet.Settings{Robots: a.robots}); err == nil && filled {
			err = (&fleet.Authority{Robots: a.robots}).Fill(ctx, nc)
		}
		nc.Close()
	}
	if err != nil {
		s.Shutdown()
	}
	return s, keys, err
}
