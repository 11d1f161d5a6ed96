package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

const anyPort = "127.0.0.1:-1"

// withAccounts writes the configuration of a server with the roles of two robots, and starts it with their stores.
func withAccounts(t *testing.T, more ...string) (dir string, s *server.Server) {
	t.Helper()
	dir = t.TempDir()
	if code, _, errs := call(append([]string{"setup", "--accounts", dir, "--listen", anyPort, "--robots", "drone-1,drone-2"}, more...)...); code != cli.Done {
		t.Fatalf("exit %d, %s", code, errs)
	}
	s = configured(t, dir)
	if err := fleet.Setup(t.Context(), as(t, s, dir, fleet.RoleOperator), fleet.Settings{Robots: []string{"drone-1", "drone-2"}}); err != nil {
		t.Fatal(err)
	}
	return dir, s
}

func as(t *testing.T, s *server.Server, dir, role string) *nats.Conn {
	t.Helper()
	nc, err := connectAs(s.ClientURL(), filepath.Join(dir, keyFolder), role)
	if err != nil {
		t.Fatalf("%s: %v", role, err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// With credentials that end each role gets the answers that it gets with keys, and sees the same.
func TestCredentialsPermitWhatKeysDo(t *testing.T) {
	authority := fleet.Authority{Robots: []string{"drone-1", "drone-2"}}
	var seen [2][]string
	for i, more := range [][]string{nil, {"--valid", "1h"}} {
		dir, s := withAccounts(t, more...)
		operator := "OPERATOR"
		if pair, err := readKey(filepath.Join(dir, keyFolder), accountKey+operator); err == nil {
			if operator, err = pair.PublicKey(); err != nil {
				t.Fatal(err)
			}
		}
		forgets(t, s, operator)
		for _, role := range authority.Roles()[1:] {
			nc := as(t, s, dir, role)
			for _, g := range authority.Grants(role) {
				subject := strings.NewReplacer("*", "x", ">", "x").Replace(g.Subject)
				for _, at := range []string{subject, "fleet.api." + strings.TrimPrefix(subject, "$JS.API.")} {
					if strings.Contains(at, "MSG.NEXT") || strings.Contains(at, "$JS.ACK") {
						continue // they wait for a job, or answer nothing
					}
					m, err := nc.Request(at, nil, 5*time.Second)
					if err != nil {
						seen[i] = append(seen[i], fmt.Sprintf("%s %s %v", role, at, err))
						continue
					}
					kind, _, _ := strings.Cut(string(m.Data), ":") // the rest has times and numbers
					seen[i] = append(seen[i], fmt.Sprintf("%s %s %s %s", role, at, kind, m.Header.Get("Status")))
				}
			}
		}
		for _, role := range authority.Roles() {
			sub, err := as(t, s, dir, role).SubscribeSync(wire.StatusSubject("drone-1"))
			if err != nil {
				t.Fatal(err)
			}
			robot := as(t, s, dir, fleet.RobotRole("drone-1"))
			time.Sleep(50 * time.Millisecond) // until the server has the subscription
			if err := robot.Publish(wire.StatusSubject("drone-1"), nil); err != nil {
				t.Fatal(err)
			}
			_, err = sub.NextMsg(500 * time.Millisecond)
			seen[i] = append(seen[i], fmt.Sprintf("%s sees it: %v", role, err == nil))
		}
	}
	if !slices.Equal(seen[0], seen[1]) {
		for i := range min(len(seen[0]), len(seen[1])) {
			if seen[0][i] != seen[1][i] {
				t.Errorf("with a key     %s\nwith credentials %s", seen[0][i], seen[1][i])
			}
		}
	}
	if n := len(seen[0]); n < 50 || !slices.Contains(seen[1], "viewer sees it: true") || !slices.Contains(seen[1], "robot.drone-2 sees it: false") {
		t.Errorf("%d answers: %q", n, seen[1])
	}
}

// Who has an old key, or is of a robot that was removed, is disconnected when the server reads its configuration again, with keys and with
// credentials that end.
func TestCredentialsAreRevoked(t *testing.T) {
	t.Run("keys", func(t *testing.T) { revoked(t) })
	t.Run("credentials", func(t *testing.T) {
		dir := revoked(t, "--valid", "1h")
		if info, err := os.Stat(credsFile(filepath.Join(dir, keyFolder), fleet.RoleViewer)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		if code, _, _ := call("setup", "--accounts", dir, "--listen", anyPort, "--robots", "drone-1"); code != cli.Wrong {
			t.Errorf("keys that do not expire in place of credentials: exit %d", code)
		}
	})
}

func revoked(t *testing.T, more ...string) (dir string) {
	t.Helper()
	dir, s := withAccounts(t, more...)
	keys, stolen := filepath.Join(dir, keyFolder), t.TempDir()
	if err := os.CopyFS(stolen, os.DirFS(keys)); err != nil {
		t.Fatal(err)
	}
	ends := func(role string) (*nats.Conn, chan time.Time) {
		t.Helper()
		at := make(chan time.Time, 1)
		nc, err := connectAs(s.ClientURL(), stolen, role)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		nc.SetDisconnectErrHandler(func(*nats.Conn, error) {
			at <- time.Now()
			nc.Close()
		})
		return nc, at
	}
	_, thief := ends(fleet.RobotRole("drone-1"))
	planner, _ := ends(fleet.PlannerRole("drone-1"))
	_, removed := ends(fleet.RobotRole("drone-2"))
	again := func(args ...string) {
		t.Helper()
		if code, _, errs := call(slices.Concat([]string{"setup", "--accounts", dir, "--listen", anyPort}, more, args)...); code != cli.Done {
			t.Fatalf("exit %d, %s", code, errs)
		}
		if err := s.Reload(); err != nil { // as by SIGHUP
			t.Fatal(err)
		}
	}
	took := func(what string, at chan time.Time, began time.Time) {
		t.Helper()
		select {
		case end := <-at:
			t.Logf("%s: disconnected after %v", what, end.Sub(began).Round(time.Millisecond))
		case <-time.After(patience):
			t.Errorf("%s is still connected", what)
		}
	}
	time.Sleep(time.Second) // another time of signing: the server takes what is signed anew
	began := time.Now()
	again("--robots", "drone-1,drone-2", "--rotate", "robot.drone-1")
	took("an old key", thief, began)
	if _, err := connectAs(s.ClientURL(), stolen, fleet.RobotRole("drone-1")); err == nil {
		t.Error("an old key connects again")
	}
	if as(t, s, dir, fleet.RobotRole("drone-1")); planner.IsClosed() {
		t.Error("the planner, whose key was not changed, is disconnected")
	}
	began = time.Now()
	again("--robots", "drone-1")
	took("a removed robot", removed, began)
	if _, err := connectAs(s.ClientURL(), keys, fleet.RobotRole("drone-2")); err == nil {
		t.Error("a removed robot connects again")
	}
	args := slices.Concat([]string{"setup", "--accounts", dir, "--listen", anyPort, "--robots", "drone-1", "--rotate", "drone-1"}, more)
	if code, _, errs := call(args...); code != cli.Failed || !strings.Contains(errs, "robot.drone-1") {
		t.Errorf("a role that there is not: exit %d, %s", code, errs)
	}
	return dir
}

// Credentials end by themselves: the server disconnects, and refuses them.
func TestCredentialsEnd(t *testing.T) {
	dir, s := withAccounts(t, "--valid", "1h")
	if code, _, errs := call("setup", "--accounts", dir, "--listen", anyPort, "--robots", "drone-1,drone-2", "--valid", "3s"); code != cli.Done {
		t.Fatalf("exit %d, %s", code, errs)
	}
	at := make(chan time.Time, 1)
	began := time.Now()
	file := credsFile(filepath.Join(dir, keyFolder), fleet.RoleViewer)
	if _, err := nats.Connect(s.ClientURL(), nats.UserCredentials(file), nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { at <- time.Now() })); err != nil {
		t.Fatal(err)
	}
	select {
	case end := <-at:
		t.Logf("disconnected after %v", end.Sub(began).Round(time.Millisecond))
	case <-time.After(patience):
		t.Error("it is still connected")
	}
	time.Sleep(time.Second) // an end is a whole second
	if _, err := nats.Connect(s.ClientURL(), nats.UserCredentials(file)); err == nil {
		t.Error("it connects again")
	}
}
