// Package link defines the flags of the connection to a NATS server, the same in every
// command that connects to one. The connection itself is that
// of estimator/node.
package link

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/pflag"

	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Flags are the values of the flags.
type Flags struct {
	URL   string `toml:"url"`
	Creds string `toml:"creds"`
	NKey  string `toml:"nkey"`
	CA    string `toml:"tls_ca"`
	Cert  string `toml:"tls_cert"`
	Key   string `toml:"tls_key"`
	Inbox string `toml:"inbox"` // no flag: only a program that asks has one
}

// Add defines the flags.
func (f *Flags) Add(set *pflag.FlagSet) {
	set.StringVar(&f.URL, "nats", nats.DefaultURL, "the NATS server, or several separated by commas")
	set.StringVar(&f.Creds, "creds", "", "credentials file for the server")
	set.StringVar(&f.NKey, "nkey", "", "file with an nkey seed for the server")
	set.StringVar(&f.CA, "tls-ca", "", "PEM file of the authorities to trust")
	set.StringVar(&f.Cert, "tls-cert", "", "PEM file of this program's certificate")
	set.StringVar(&f.Key, "tls-key", "", "PEM file of its private key")
}

// For returns the flags of a connection on behalf of a vehicle, which is answered on inboxes of its own.
func (f *Flags) For(vehicle string) *Flags {
	own := *f
	own.Inbox = cmp.Or(f.Inbox, wire.EstimatorInbox(vehicle))
	return &own
}

// Link returns the connection's settings under a name. Events of the connection go to
// log, as sentences without a full stop.
func (f *Flags) Link(name string, log func(string)) node.Link {
	return node.Link{URL: f.URL, Name: name, Creds: f.Creds, NKey: f.NKey, CA: f.CA, Cert: f.Cert, Key: f.Key, Inbox: f.Inbox, Log: log}
}

// Await waits for a connection of Link to reach its server.
func (f *Flags) Await(ctx context.Context, nc *nats.Conn, wait time.Duration) error {
	for begin := time.Now(); !nc.IsConnected(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > wait || ctx.Err() != nil {
			return fmt.Errorf("no server answers at %s; start one or give --nats", node.Link{URL: f.URL}.Address())
		}
	}
	return nil
}
