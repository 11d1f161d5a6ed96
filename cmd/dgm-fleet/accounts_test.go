package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

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
	forgets(t, s, "OPERATOR")
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
	private, public := keyFiles(t, 1)
	if code, _, errs := call("group", "all", "drone-1", "--sign", private, "--nats", url, "--nkey", key(fleet.RoleViewer)); code != cli.Failed {
		t.Errorf("a viewer makes a group: exit %d, %s", code, errs)
	}
	if code, _, errs := call("group", "all", "drone-1", "--sign", private, "--nats", url, "--nkey", key(fleet.RoleOperator)); code != cli.Done {
		t.Errorf("an operator: exit %d, %s", code, errs)
	}
	for _, role := range []string{fleet.RoleViewer, fleet.RobotRole("drone-1")} {
		if code, out, errs := call("log", "--json", "--public-key", public, "--nats", url, "--nkey", key(role)); code != cli.Done || !strings.Contains(out, `"ok": true`) || !strings.Contains(out, `"name": "all"`) {
			t.Errorf("%s reads the log: exit %d, %s%s", role, code, out, errs)
		}
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

// forgets checks that a server keeps no request for long of which many answers may come: who may ask could fill its memory.
func forgets(t *testing.T, s *server.Server, account string) {
	t.Helper()
	operator, err := s.LookupAccount(account)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := operator.ServiceExportResponseThreshold("$JS.API.DIRECT.GET.DGM_DECISIONS"); err != nil || kept != fleet.ManyFor {
		t.Errorf("requests are kept for %v, %v", kept, err)
	}
}

// With a certificate the server speaks TLS 1.3 alone: who trusts its authority connects, and nobody without TLS or with another authority.
func TestTheServerSpeaksTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := certificate(t)
	stranger, _ := certificate(t)
	if code, _, errs := call("setup", "--accounts", dir, "--listen", "127.0.0.1:-1", "--robots", "drone-1", "--server-cert", cert, "--server-key", key); code != cli.Done {
		t.Fatalf("exit %d, %s", code, errs)
	}
	s := configured(t, dir)
	at := s.Addr().String()
	nkey := keyFile(filepath.Join(dir, keyFolder), fleet.RoleOperator)
	if code, _, errs := call("setup", "--robots", "drone-1", "--nkey", nkey, "--nats", "tls://"+at, "--tls-ca", cert); code != cli.Done {
		t.Errorf("exit %d, %s", code, errs)
	}
	for name, o := range map[string]nats.Option{
		"another authority": nats.RootCAs(stranger), "no authority": nats.Secure(), "TLS 1.2": nats.Secure(&tls.Config{MaxVersion: tls.VersionTLS12, InsecureSkipVerify: true}),
	} {
		nc, err := nats.Connect("tls://"+at, o, nats.NoReconnect())
		if err == nil {
			nc.Close()
		}
		if err == nil || errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v", name, err)
		}
	}
	plain, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	_ = plain.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := plain.Write([]byte("CONNECT {\"verbose\":true}\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(plain)
	if strings.Contains(string(answer), "PONG") {
		t.Errorf("without TLS it answers %q", answer)
	}
}

// The server reads the configurations of the page, and what other computers reach speaks TLS, between servers with certificates on both sides.
func TestTheConfigurationsOfThePage(t *testing.T) {
	b, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	cert, key := certificate(t)
	here := strings.NewReplacer("/etc/nats/cert.pem", cert, "/etc/nats/servers.pem", cert, "/etc/nats/key.pem", key)
	blocks := regexp.MustCompile("(?s)```conf (\\w+)\n(.*?)```").FindAllStringSubmatch(string(b), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d configurations", len(blocks))
	}
	for _, block := range blocks {
		path := filepath.Join(t.TempDir(), block[1]+".conf")
		if err := os.WriteFile(path, []byte(here.Replace(block[2])), 0o666); err != nil {
			t.Fatal(err)
		}
		o, err := server.ProcessConfigFile(path)
		if err != nil {
			t.Errorf("%s: %v", block[1], err)
			continue
		}
		if !loopback(o.Host) && o.TLSConfig == nil || o.LeafNode.Port != 0 && o.LeafNode.TLSConfig == nil ||
			o.Cluster.Port != 0 && (o.Cluster.TLSConfig == nil || o.Cluster.TLSConfig.ClientAuth != tls.RequireAndVerifyClientCert) {
			t.Errorf("%s is reached from other computers without TLS", block[1])
		}
		for _, r := range o.LeafNode.Remotes {
			if r.Credentials == "" || r.URLs[0].Scheme != "tls" {
				t.Errorf("%s speaks to %v with %q", block[1], r.URLs[0], r.Credentials)
			}
		}
	}
}

// certificate writes a certificate for this computer that is its own authority.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	dir := t.TempDir()
	write := func(name, kind string, der []byte, err error) string {
		path := filepath.Join(dir, name)
		if err == nil {
			err = os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, private.Public(), private)
	cert = write("cert.pem", "CERTIFICATE", der, err)
	der, err = x509.MarshalPKCS8PrivateKey(private)
	return cert, write("key.pem", "PRIVATE KEY", der, err)
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
