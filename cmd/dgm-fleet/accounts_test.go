package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/dgm-view/page"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// configured starts the server that setup has described in a folder.
func configured(t *testing.T, dir string) *server.Server {
	t.Helper()
	o, err := server.ProcessConfigFile(filepath.Join(dir, serverFile))
	if err != nil {
		t.Fatal(err)
	}
	o.NoLog, o.NoSigs = true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	return s
}

// The server that setup describes serves who has a key, and nobody else; keys stay when robots are added.
func TestAccounts(t *testing.T) {
	dir := t.TempDir()
	const listen = "127.0.0.1:-1"
	if code, _, errs := call("setup", "--accounts", dir, "--listen", listen, "--robots", "drone-1,drone-2"); code != cli.Done {
		t.Fatalf("exit %d, %s", code, errs)
	}
	s := configured(t, dir)
	url := s.ClientURL()
	first, err := os.ReadFile(keyFile(filepath.Join(dir, keyFolder), fleet.RobotRole("drone-1")))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(keyFile(filepath.Join(dir, keyFolder), fleet.RoleOperator)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	code, out, errs := call("setup", "--accounts", dir, "--listen", listen, "--robots", "drone-1,drone-2,drone-3")
	if again, err := os.ReadFile(keyFile(filepath.Join(dir, keyFolder), fleet.RobotRole("drone-1"))); code != cli.Done || err != nil || string(again) != string(first) || strings.Contains(out, "drone-1.nk") || !strings.Contains(out, "robot.drone-3.nk") {
		t.Errorf("exit %d, %s%s, %v", code, out, errs, err)
	}
	keys := filepath.Join(dir, keyFolder)
	if _, err := connectAs(url, keys, fleet.RobotRole("drone-3")); err == nil {
		t.Error("a robot that the server does not know connects")
	}
	if err := s.Reload(); err != nil { // as by SIGHUP
		t.Fatal(err)
	}
	nc, err := connectAs(url, keys, fleet.RobotRole("drone-3"))
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	key := func(role string) string { return keyFile(filepath.Join(dir, keyFolder), role) }
	if code, _, errs := call("setup", "--nats", url, "--nkey", key(fleet.RoleOperator), "--robots", "drone-1,drone-2,drone-3"); code != cli.Done {
		t.Fatalf("exit %d, %s", code, errs)
	}
	code, out, errs = call("status", "--json", "--wait", "1ms", "--nats", url, "--nkey", key(fleet.RoleViewer))
	if code != cli.Done || !strings.Contains(out, `"robots"`) {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if code, _, errs := call("group", "all", "drone-1", "--nats", url, "--nkey", key(fleet.RoleViewer)); code == cli.Done {
		t.Errorf("a viewer makes a group: %s", errs)
	}
	if os.Getenv("DGM_SLOW") == "" {
		return
	}
	code, out, errs = call("audit", "--json", "--nats", url, "--keys", filepath.Join(dir, keyFolder))
	var audit fleet.Audit
	if err := json.Unmarshal([]byte(out), &audit); code != cli.Done || err != nil || audit.Tried < 50_000 || len(audit.Through) > 0 || audit.Through == nil {
		t.Errorf("exit %d, %s, %v: %s", code, out, err, errs)
	}
}

// The viewer's account may ask for what the page asks the stores for.
func TestThePageIsAViewer(t *testing.T) {
	grants := (&fleet.Authority{}).Grants(fleet.RoleViewer)
	for _, s := range page.Asks {
		if strings.HasPrefix(s, "$JS.") && !slices.ContainsFunc(grants, func(g fleet.Grant) bool { return g.Subject == s && g.Many }) {
			t.Errorf("it may not ask on %s", s)
		}
	}
}

func TestAccountsThatAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{}, {"--robots", "a b"}, {"--robots", "a", "--listen", "0.0.0.0:4222"}, {"--robots", "a", "--listen", "x"}, {"--robots", "a", "--server-cert", "c.pem"},
		{"--robots", "a", "--websocket", "127.0.0.1:8222"},
	} {
		dir := filepath.Join(t.TempDir(), "fleet")
		if code, _, errs := call(append([]string{"setup", "--accounts", dir}, args...)...); code == cli.Done {
			t.Errorf("%q: %s", args, errs)
		}
		if _, err := os.Stat(filepath.Join(dir, serverFile)); err == nil {
			t.Errorf("%q: it wrote a configuration", args)
		}
	}
	for _, args := range [][]string{{"--nats", "nats://127.0.0.1:1"}, {"--keys", t.TempDir()}, {"--nats", "nats://127.0.0.1:1", "--keys", t.TempDir()}} {
		if code, _, errs := call(append([]string{"audit"}, args...)...); code == cli.Done || errs == "" {
			t.Errorf("audit %q: exit %d, %s", args, code, errs)
		}
	}
}
