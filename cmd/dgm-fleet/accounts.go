package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/durable"
)

// accounts are the settings of a server that dgm-fleet setup writes.
type accounts struct {
	dir, listen, cert, key, websocket string
	origins, robots, rotate           []string
	valid                             days // of credentials; 0 = keys that do not expire
}

const (
	keyFolder  = "keys"
	serverFile = "nats.conf"
)

// write writes the configuration of a server, and the seed of the key of each role that has none, and returns their names.
func (a *accounts) write() (files []string, err error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if a.dir, err = filepath.Abs(a.dir); err != nil {
		return nil, err
	}
	keys := filepath.Join(a.dir, keyFolder)
	if err := os.MkdirAll(keys, 0o700); err != nil {
		return nil, err
	}
	if exists(keyFile(keys, signerKey)) && a.valid == 0 {
		return nil, cli.Usage("the credentials of %s expire: give --valid, the validity of the new ones", a.dir)
	}
	if err := rotated(a.dir, a.rotate); err != nil {
		return nil, err
	}
	authority := fleet.Authority{Robots: a.robots, Keys: map[string]string{}}
	for _, role := range authority.Roles() {
		pair, made, err := haveKey(keys, role, nkeys.CreateUser)
		if made {
			files = append(files, keyFile(keys, role))
		}
		if err == nil {
			authority.Keys[role], err = pair.PublicKey()
		}
		if err != nil {
			return nil, fmt.Errorf("the key of %s: %w", role, err)
		}
	}
	text, err := authority.Config()
	if err == nil && a.valid > 0 {
		c := credentials{dir: keys, until: time.Now().Add(time.Duration(a.valid))}
		if c.revoked, err = readRevocations(a.dir); err == nil {
			text, err = c.write(&authority)
		}
		files = append(files, c.files...)
	}
	if err != nil {
		return nil, err
	}
	name := filepath.Join(a.dir, serverFile)
	return append(files, name), durable.WriteFile(name, []byte(a.head(authority.Keys[fleet.RoleViewer])+text))
}

func (a *accounts) check() error {
	host, _, err := net.SplitHostPort(a.listen)
	if err != nil {
		return cli.Usage("--listen %s: %v", a.listen, err)
	}
	switch {
	case len(a.robots) == 0:
		return cli.Usage("--accounts needs --robots, the vehicles that get an account")
	case (a.cert == "") != (a.key == ""):
		return cli.Usage("--server-cert and --server-key go together")
	case !loopback(host) && a.cert == "":
		return cli.Usage("--listen %s is reachable from other computers; without --server-cert and --server-key everybody on the network can read and change messages", a.listen)
	case a.websocket != "" && len(a.origins) == 0:
		return cli.Usage("--websocket needs --origins, the addresses of the pages that may use it: otherwise every page in a browser may")
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// head is the configuration before the accounts. Who opens a page on this computer is a viewer.
func (a *accounts) head(viewer string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# By dgm-fleet setup --accounts, which writes it anew: an account for each role.\nlisten: %q\njetstream { store_dir: %q, sync_interval: always }\n", a.listen, filepath.Join(a.dir, "jetstream"))
	tls := ""
	if a.cert != "" {
		tls = fmt.Sprintf("tls { cert_file: %q, key_file: %q, min_version: \"1.3\" }", a.cert, a.key)
		fmt.Fprintln(&b, tls)
	}
	if a.websocket != "" {
		if tls == "" {
			tls = "no_tls: true"
		}
		if host, _, err := net.SplitHostPort(a.websocket); err == nil && loopback(host) && a.valid == 0 {
			tls += ", no_auth_user: " + viewer
		}
		fmt.Fprintf(&b, "websocket { listen: %q, allowed_origins: [%s], %s }\n", a.websocket, literals(a.origins), tls)
	}
	return b.String()
}

func literals(all []string) string {
	var out []string
	for _, s := range all {
		out = append(out, fmt.Sprintf("%q", s))
	}
	return strings.Join(out, ", ")
}
