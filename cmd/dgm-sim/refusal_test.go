package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// authority returns a certificate for 127.0.0.1 that signs itself, and writes it as
// PEM to path.
func authority(t *testing.T, path string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: path}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// A server that is there and takes no connection is told from one that is not.
func TestWhyTheServerTakesNoConnection(t *testing.T) {
	dir := t.TempDir()
	ca, other, seed := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "other.pem"), filepath.Join(dir, "user.nk")
	cert := authority(t, ca)
	authority(t, other)
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := user.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	secret, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(seed, secret, 0o600); err != nil {
		t.Fatal(err)
	}
	serve := func(o server.Options) string {
		o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", -1, true, true
		s, err := server.NewServer(&o)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(s.Shutdown)
		if !s.ReadyForConnections(time.Minute) {
			t.Fatal("the server does not come up")
		}
		return s.ClientURL()
	}
	guarded := serve(server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}})
	secure := serve(server.Options{TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}}, TLS: true, TLSTimeout: 5})
	for _, c := range []struct {
		name string
		args []string
		code int
		say  string
	}{
		{"who are you", []string{"--nats", guarded}, cli.Failed, "Authorization Violation"},
		{"with the key", []string{"--nats", guarded, "--nkey", seed}, cli.Done, ""},
		{"unknown authority", []string{"--nats", secure}, cli.Failed, "certificate"},
		{"another authority", []string{"--nats", secure, "--tls-ca", other}, cli.Failed, "certificate"},
		{"the right authority", []string{"--nats", secure, "--tls-ca", ca}, cli.Done, ""},
		{"no such file", []string{"--nats", secure, "--tls-ca", filepath.Join(dir, "none.pem")}, cli.Failed, "none.pem"},
		{"half a certificate", []string{"--nats", secure, "--tls-cert", ca}, cli.Failed, "key"},
	} {
		var code int
		var out, errs, last string
		for _, duration := range []string{"1500ms", "20s"} { // longer where a busy computer has not come to an answer
			code, out, errs = sim(append([]string{"live", "--system", "pendulum", "--vehicle", "p1", "--duration", duration, "--rate", "20"}, c.args...)...)
			lines := strings.Split(strings.TrimSpace(errs), "\n")
			if last = lines[len(lines)-1]; !strings.Contains(last, "no server answered") {
				break
			}
		}
		if code != c.code || !strings.Contains(last, c.say) || strings.Contains(last, "no server answered") {
			t.Errorf("%s: exit %d, %q, %q", c.name, code, out, errs)
		}
	}
}
