package node

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Link says how to reach NATS.
type Link struct {
	URL   string // (optional) one or several, separated by commas; defaults to nats://127.0.0.1:4222
	Name  string // (optional) of this client, as the server lists it
	Creds string // (optional) credentials file (JWT and seed)
	NKey  string // (optional) file with an nkey seed
	CA    string // (optional) PEM file of the authorities to trust; defaults to the system's
	Cert  string // (optional) PEM file of this client's certificate; needs Key
	Key   string // (optional) PEM file of its private key

	InProcess nats.InProcessConnProvider // (optional) a server in this process; then URL is not used
	Log       func(line string)          // (optional) for what an operator should read
}

const (
	retry     = 250 * time.Millisecond // between two attempts to connect
	ping      = 2 * time.Second        // a dead link is noticed after two of these
	repeatLog = 10 * time.Second       // the same trouble is told again after this
)

// Connect returns a connection that finds its server in any order of starts and
// comes back for ever, and that never sends later what was published while it was
// down. The server need not be there; wrong files and names are errors at once.
func (l Link) Connect() (*nats.Conn, error) {
	if l.URL == "" {
		l.URL = nats.DefaultURL
	}
	if l.Log == nil {
		l.Log = func(string) {}
	}
	security, err := l.security()
	if err != nil {
		return nil, err
	}
	where := withoutSecrets(l.URL)
	say := &talk{log: l.Log, url: where}
	options := append(security,
		nats.Name(l.Name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(retry), nats.ReconnectJitter(retry/5, retry/5),
		nats.ReconnectBufSize(-1), // whatever is published while the link is down is gone
		nats.IgnoreAuthErrorAbort(),
		nats.Timeout(2*time.Second),
		nats.PingInterval(ping), nats.MaxPingsOutstanding(2),
		nats.FlusherTimeout(2*time.Second),
		nats.ConnectHandler(func(nc *nats.Conn) { say.now("connected to NATS at " + nc.ConnectedUrlRedacted()) }),
		nats.ReconnectHandler(func(nc *nats.Conn) { say.now("the link to NATS is back, at " + nc.ConnectedUrlRedacted()) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				say.now(fmt.Sprintf("the link to NATS at %s was lost: %v", where, err))
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { say.trouble(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { say.now("NATS: " + err.Error()) }),
	)
	if l.InProcess != nil {
		options = append(options, nats.InProcessServer(l.InProcess))
	}
	nc, err := nats.Connect(l.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("NATS at %s: %w", where, err)
	}
	if !nc.IsConnected() {
		say.trouble(nil)
	}
	return nc, nil
}

// security returns the options for who this client is and whom it trusts. Files
// are read now, so that what is wrong with them is said before anything runs.
func (l Link) security() ([]nats.Option, error) {
	var options []nats.Option
	if l.Creds != "" && l.NKey != "" {
		return nil, errors.New("both credentials and an nkey are given; choose one")
	}
	if l.Creds != "" {
		if _, err := os.ReadFile(l.Creds); err != nil {
			return nil, fmt.Errorf("credentials: %w", err)
		}
		options = append(options, nats.UserCredentials(l.Creds))
	}
	if l.NKey != "" {
		o, err := nats.NkeyOptionFromSeed(l.NKey)
		if err != nil {
			return nil, fmt.Errorf("nkey %s: %w", l.NKey, err)
		}
		options = append(options, o)
	}
	if (l.Cert == "") != (l.Key == "") {
		return nil, errors.New("a client certificate needs its key, and a key its certificate; give both or none")
	}
	if l.CA == "" && l.Cert == "" {
		return options, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if l.CA != "" {
		pem, err := os.ReadFile(l.CA)
		if err != nil {
			return nil, fmt.Errorf("certificate authority: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificate authority %s: holds no certificate in PEM form", l.CA)
		}
	}
	if l.Cert != "" {
		pair, err := tls.LoadX509KeyPair(l.Cert, l.Key)
		if err != nil {
			return nil, fmt.Errorf("client certificate %s with key %s: %w", l.Cert, l.Key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return append(options, nats.Secure(config)), nil
}

// withoutSecrets hides passwords and tokens in a list of URLs.
func withoutSecrets(list string) string {
	parts := strings.Split(list, ",")
	for i, p := range parts {
		scheme, rest, ok := strings.Cut(p, "://")
		if !ok {
			scheme, rest = "", p
		}
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			rest = "…" + rest[at:]
		}
		if parts[i] = rest; ok {
			parts[i] = scheme + "://" + rest
		}
	}
	return strings.Join(parts, ",")
}

// talk tells an operator about the link, and the same trouble not too often.
type talk struct {
	log func(string)
	url string

	mu   sync.Mutex
	last string
	at   time.Time
}

func (t *talk) now(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = ""
	t.log(line)
}

// trouble tells that the server cannot be reached. A nil error is one that nats.go
// has not told.
func (t *talk) trouble(err error) {
	line := "NATS at " + t.url + " cannot be reached; trying again"
	if err != nil && !strings.Contains(err.Error(), "no servers available") {
		line = fmt.Sprintf("NATS at %s cannot be reached (%v); trying again", t.url, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.at) < repeatLog && t.last != "" {
		return
	}
	t.last, t.at = line, time.Now()
	t.log(line)
}
