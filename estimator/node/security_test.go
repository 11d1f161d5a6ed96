package node

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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/dgm-robotics/dgm/estimator/node/loopback"
)

func itoa(n int) string { return strconv.Itoa(n) }

// reaches checks that a link gets through to its server, or that it logs
// why: refusal is empty or a part of that.
func reaches(t *testing.T, l Link, refusal string) {
	t.Helper()
	var logged lines
	l.Log = logged.add
	nc, err := l.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if refusal == "" {
		eventually(t, "connected", nc.IsConnected)
		return
	}
	eventually(t, "refused", func() bool { return logged.has(refusal) })
	if logged.has("no server answers") {
		t.Errorf("a server that refuses looks like one that is not there: %q", logged.lines)
	}
	if nc.IsConnected() {
		t.Error("connected to a server that should have refused")
	}
}

func write(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNKey(t *testing.T) {
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := user.PublicKey()
	seed, _ := user.Seed()
	s := start(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, Nkeys: []*server.NkeyUser{{Nkey: public}}})
	reaches(t, Link{URL: s.ClientURL(), NKey: write(t, "user.nk", seed)}, "")
	reaches(t, Link{URL: s.ClientURL()}, "refuses this client (Authorization Violation)")
}

func TestCredentials(t *testing.T) {
	operator, _ := nkeys.CreateOperator()
	account, _ := nkeys.CreateAccount()
	user, _ := nkeys.CreateUser()
	public := func(k nkeys.KeyPair) string { p, _ := k.PublicKey(); return p }
	accountJWT, err := jwt.NewAccountClaims(public(account)).Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	userJWT, err := jwt.NewUserClaims(public(user)).Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := user.Seed()
	creds, err := jwt.FormatUserConfig(userJWT, seed)
	if err != nil {
		t.Fatal(err)
	}
	accounts := &server.MemAccResolver{}
	if err := accounts.Store(public(account), accountJWT); err != nil {
		t.Fatal(err)
	}
	s := start(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, TrustedKeys: []string{public(operator)}, AccountResolver: accounts})
	reaches(t, Link{URL: s.ClientURL(), Creds: write(t, "user.creds", creds)}, "")
	reaches(t, Link{URL: s.ClientURL()}, "refuses this client (Authorization Violation)")
}

// certificate returns the PEM files of a certificate for the loopback that signs
// itself, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		write(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}))
}

func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	b, _ := os.ReadFile(cert)
	pool.AppendCertsFromPEM(b)
	s := start(t, &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, TLS: true, TLSTimeout: 5, TLSVerify: true,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12},
	})
	url := "nats://" + s.Addr().String()
	reaches(t, Link{URL: url, CA: cert, Cert: cert, Key: key}, "")
	reaches(t, Link{URL: url, CA: cert}, "gives no secure link") // no certificate of its own
	other, _ := certificate(t)
	reaches(t, Link{URL: url, CA: other, Cert: cert, Key: key}, "certificate signed by unknown authority") // does not trust the server
}

func TestWrongSecurityFailsAtOnce(t *testing.T) {
	cert, _ := certificate(t)
	empty := write(t, "empty", nil)
	missing := filepath.Join(t.TempDir(), "missing")
	for name, c := range map[string]struct {
		link Link
		part string
	}{
		"no credentials":      {Link{Creds: missing}, "credentials: open " + missing},
		"no nkey":             {Link{NKey: missing}, missing},
		"empty nkey":          {Link{NKey: empty}, empty},
		"both":                {Link{NKey: empty, Creds: empty}, "choose one"},
		"no authority":        {Link{CA: missing}, "certificate authority: open " + missing},
		"no PEM":              {Link{CA: empty}, "contains no PEM certificate"},
		"cert without key":    {Link{Cert: cert}, "give both"},
		"key without cert":    {Link{Key: cert}, "give both"},
		"key is no key":       {Link{Cert: cert, Key: empty}, "client certificate"},
		"not a URL":           {Link{URL: "nats://[::1"}, "NATS at"},
		"no such port":        {Link{URL: "nats://127.0.0.1:99999"}, "there is no port 99999"},
		"another scheme":      {Link{URL: "http://127.0.0.1:4222"}, "http:// is no address of NATS"},
		"colons":              {Link{URL: "::::"}, "too many colons"},
		"IPv6 without []":     {Link{URL: "nats://::1:4222"}, "nats://[::1]:4222 for IPv6"},
		"port 0":              {Link{URL: "127.0.0.1:0"}, "there is no port 0"},
		"port of letters":     {Link{URL: "nats://host:http"}, "NATS at"},
		"nothing":             {Link{URL: ","}, "an address is empty"},
		"nothing at the end":  {Link{URL: "nats://a,"}, "an address is empty"},
		"no host":             {Link{URL: "nats://:4222"}, "a host is missing"},
		"creds are a picture": {Link{Creds: write(t, "user.creds", []byte("\x89PNG\r\n"))}, "user.creds"},
		"creds without seed":  {Link{Creds: write(t, "jwt", []byte("-----BEGIN NATS USER JWT-----\nabc\n------END NATS USER JWT------\n"))}, "credentials"},
		"secret in the error": {Link{URL: "nats://me:secret@[::1"}, "…@"},
	} {
		nc, err := c.link.Connect()
		if err == nil {
			nc.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, good := range []string{"nats://127.0.0.1:4222", "a", "a:1, tls://b:65535", "nats://u:p@[::1]:4222"} {
		if err := checkAddresses(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	if got := withoutSecrets("nats://me:s3@a:4222,tls://b,token@c"); got != "nats://…@a:4222,tls://b,…@c" {
		t.Errorf("shown as %s", got)
	}
}

// A server that is not there yet and then refuses is logged as two things.
func TestRefusalAfterAnAbsenceIsLogged(t *testing.T) {
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := user.PublicKey()
	port := loopback.ReservedPort(t)
	var logged lines
	nc, err := Link{URL: "nats://127.0.0.1:" + itoa(port), Log: logged.add}.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	eventually(t, "absent", func() bool { return logged.has("no server answers") })
	start(t, &server.Options{Host: "127.0.0.1", Port: port, Nkeys: []*server.NkeyUser{{Nkey: public}}})
	eventually(t, "refused", func() bool { return logged.has("refuses this client") })
}
