package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/dgm-robotics/dgm/cmd/dgm-view/page"
)

// The page connects with a credentials file of a user that may only read.
func TestCredentials(t *testing.T) {
	t.Parallel()
	b := openBrowser(t, 1280, 900)
	operator, _ := nkeys.CreateOperator()
	account, _ := nkeys.CreateAccount()
	user, _ := nkeys.CreateUser()
	public := func(k nkeys.KeyPair) string { p, _ := k.PublicKey(); return p }
	accountJWT, err := jwt.NewAccountClaims(public(account)).Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.NewUserClaims(public(user))
	claims.Sub.Allow, claims.Pub.Deny = page.Reads, []string{">"}
	userJWT, err := claims.Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := user.Seed()
	creds, err := jwt.FormatUserConfig(userJWT, seed)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "viewer.creds")
	if err := os.WriteFile(file, creds, 0o600); err != nil {
		t.Fatal(err)
	}
	accounts := &server.MemAccResolver{}
	if err := accounts.Store(public(account), accountJWT); err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, TrustedKeys: []string{public(operator)}, AccountResolver: accounts,
		Websocket: server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoTLS: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"with":    {[]string{"--creds", file}, "connected to " + s.WebsocketURL()},
		"without": {nil, "no connection: "},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		read, write := io.Pipe()
		cmd := command()
		cmd.SetArgs(append(c.args, "--nats", s.WebsocketURL(), "--listen", "127.0.0.1:0"))
		cmd.SetOut(write)
		ended := make(chan error)
		go func() { ended <- cmd.ExecuteContext(ctx) }()
		line, err := bufio.NewReader(read).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		b.open(strings.TrimSpace(strings.TrimPrefix(line, "The page is at ")))
		b.await(name+" credentials, "+c.want, func() bool { return strings.HasPrefix(b.text("#link"), c.want) })
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
