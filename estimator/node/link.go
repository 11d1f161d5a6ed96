package node

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// Link is how to reach NATS.
type Link struct {
	URL   string // (optional) one or several, separated by commas; defaults to nats://127.0.0.1:4222
	Name  string // (optional) of this client, as the server lists it
	Creds string // (optional) credentials file (JWT and seed)
	NKey  string // (optional) file with an nkey seed
	CA    string // (optional) PEM file of the authorities to trust; defaults to the system's
	Cert  string // (optional) PEM file of this client's certificate; needs Key
	Key   string // (optional) PEM file of its private key
	Inbox string // (optional) prefix of the subjects on which this client is answered; defaults to _INBOX, which all have

	InProcess nats.InProcessConnProvider // (optional) a server in this process; then URL is not used
	Log       func(line string)          // (optional) for what an operator should read
}

const (
	retry = 250 * time.Millisecond // between two attempts to connect
	ping  = 2 * time.Second        // a dead link is noticed after two of these
)

// Connect returns a connection that finds its server in any order of starts and
// reconnects without limit, and that never sends later what was published while it was
// down. The server need not be there; wrong files and names are errors at once.
func (l Link) Connect() (*nats.Conn, error) {
	if l.URL == "" {
		l.URL = nats.DefaultURL
	}
	if l.Log == nil {
		l.Log = func(string) {}
	}
	where := withoutSecrets(l.URL)
	if err := checkAddresses(l.URL); err != nil {
		return nil, fmt.Errorf("NATS at %s: %w", where, err)
	}
	options, err := l.security()
	if err != nil {
		return nil, err
	}
	if l.Inbox != "" {
		if err := checkInbox(l.Inbox); err != nil {
			return nil, err
		}
		options = append(options, nats.CustomInboxPrefix(l.Inbox))
	}
	log := &throttledLog{log: l.Log}
	trouble := func(err error) { log.limited("NATS at " + where + " " + cause(err) + "; trying again") }
	var own atomic.Pointer[nats.Conn]
	options = append(options,
		nats.Name(l.Name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.CustomReconnectDelay(func(int) time.Duration {
			// A server that answers and then refuses is in no callback.
			if nc := own.Load(); nc != nil && nc.LastError() != nil {
				trouble(nc.LastError())
			}
			return retry + rand.N(retry/5)
		}),
		nats.ReconnectBufSize(-1), // whatever is published while the link is down is gone
		nats.IgnoreAuthErrorAbort(),
		nats.Timeout(2*time.Second),
		nats.PingInterval(ping), nats.MaxPingsOutstanding(2),
		nats.FlusherTimeout(2*time.Second),
		nats.ConnectHandler(func(nc *nats.Conn) { log.connected("connected to NATS at", nc.ConnectedUrlRedacted()) }),
		nats.ReconnectHandler(func(nc *nats.Conn) { log.connected("the link to NATS is back, at", nc.ConnectedUrlRedacted()) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.now(fmt.Sprintf("the link to NATS at %s was lost: %v", where, err))
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { trouble(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.limited("NATS: " + err.Error()) }),
	)
	if l.InProcess != nil {
		options = append(options, nats.InProcessServer(l.InProcess))
	}
	nc, err := nats.Connect(l.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("NATS at %s: %w", where, err)
	}
	own.Store(nc)
	return nc, nil
}

// another returns a connection to where nc leads, with its options but for the callbacks, which
// would report everything twice.
func another(nc *nats.Conn, purpose string) (*nats.Conn, error) {
	o := nc.Opts
	o.Name += " " + purpose
	o.ConnectedCB, o.ReconnectedCB, o.DisconnectedErrCB, o.ClosedCB, o.ReconnectErrCB = nil, nil, nil, nil, nil
	o.AsyncErrorCB = func(*nats.Conn, *nats.Subscription, error) {}
	other, err := o.Connect()
	if err != nil {
		return nil, fmt.Errorf("connecting for %s: %w", purpose, err)
	}
	return other, nil
}

// security returns the options for who this client is and whom it trusts. Files are
// read now, so that what is wrong with them is reported before anything runs.
func (l Link) security() (options []nats.Option, err error) {
	switch {
	case l.Creds != "" && l.NKey != "":
		return nil, errors.New("both credentials and an nkey are given; choose one")
	case (l.Cert == "") != (l.Key == ""):
		return nil, errors.New("a client certificate needs its key, and a key its certificate; give both or none")
	}
	if l.Creds != "" {
		if err := checkCredentials(l.Creds); err != nil {
			return nil, err
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
			return nil, fmt.Errorf("certificate authority %s: contains no PEM certificate", l.CA)
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

// checkInbox returns an error for a prefix that is no subject.
func checkInbox(prefix string) error {
	for token := range strings.SplitSeq(prefix, ".") {
		if token == "" || strings.ContainsAny(token, "*> \t\r\n") {
			return fmt.Errorf("inbox %q is no prefix of subjects: give tokens without wildcards and spaces, with dots between, such as _INBOX_estimator", prefix)
		}
	}
	return nil
}

// checkCredentials does what will be done with a credentials file when a server asks.
func checkCredentials(path string) error {
	if _, err := os.ReadFile(path); err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	var trial nats.Options
	err := nats.UserCredentials(path)(&trial)
	if err == nil {
		_, err = trial.UserJWT()
	}
	if err == nil {
		_, err = trial.SignatureCB(nil)
	}
	if err != nil {
		return fmt.Errorf("credentials %s: %w; give the file that nsc or the server's operator made", path, err)
	}
	return nil
}

// epoch counts the times that a connection came back: what came in one epoch is
// not answered in another.
func epoch(nc *nats.Conn) uint64 { return nc.Stats().Reconnects }
