// Command dgm-view serves a page that shows vehicles and their predictions live.
//
//	dgm-view --nats ws://127.0.0.1:8222 --listen 127.0.0.1:8080
package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-view/page"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/keys"
)

func main() { cli.Main(command()) }

func command() *cobra.Command {
	var servers, creds, listen, public string
	var fleet bool
	cmd := &cobra.Command{
		Use:   "dgm-view",
		Short: "Serve a page that shows vehicles and their predictions live",
		Long: `dgm-view serves a page that shows the messages of estimators. The page connects to the NATS server by WebSocket,
so the browser must be able to reach that address. Nothing is stored.

Everybody who can load the page can read the credentials in it: use those of a user with read permissions only (see
docs/view.md), and listen on another address than the loopback only behind a server that authenticates users.`,
		Example: `  dgm-view --nats ws://127.0.0.1:8222
  dgm-view --nats wss://robots.example:8222 --creds viewer.creds`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := page.ParseServers(servers)
			if err != nil {
				return cli.Usage("--nats: %v", err)
			}
			if s.Fleet = fleet; public != "" {
				if s.PublicKey, err = keys.Public(public); err != nil {
					return err
				}
			}
			if creds != "" {
				b, err := os.ReadFile(creds)
				if err != nil {
					return err
				}
				s.Creds = string(b)
			}
			return serve(cmd.Context(), listen, s, func(url string) { fmt.Fprintln(cmd.OutOrStdout(), "The page is at", url) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&servers, "nats", "ws://127.0.0.1:8222", "WebSocket of the NATS server, ws:// or wss://, or several separated by commas; ws://user:password@host:port")
	f.StringVar(&creds, "creds", "", "credentials file of a user with read permissions only")
	f.BoolVar(&fleet, "fleet", false, "show the training jobs and models of a fleet; the user must be permitted to read them")
	f.StringVar(&public, "public-key", "", "with --fleet: public `key` of the operator (PEM, ed25519), with which the page verifies decisions")
	f.StringVar(&listen, "listen", "127.0.0.1:8080", "address of the page")
	return cmd
}

func serve(ctx context.Context, listen string, s page.Settings, ready func(url string)) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("%w; choose another --listen", err)
	}
	ready("http://" + l.Addr().String() + "/")
	return page.Serve(ctx, l, s)
}
