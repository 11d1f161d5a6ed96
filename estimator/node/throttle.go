package node

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// throttledLog logs what happens to a link, and the same trouble not too often.
type throttledLog struct {
	log func(string)
	url string

	mu     sync.Mutex
	logged map[string]time.Time // by line of trouble
	last   time.Time            // of any of them
}

const (
	repeatLog = 10 * time.Second // the same trouble is logged again after this
	maxCauses = 8                // lines of trouble in that time: some hold numbers that are never the same
)

// now logs a line that is no trouble; what is trouble after it is new.
func (l *throttledLog) now(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.logged)
	l.log(line)
}

// connected logs that the server at url is reached. A connection that is closed again
// before the log has none, and is not logged.
func (l *throttledLog) connected(text, url string) {
	if url != "" {
		l.now(text + " " + url)
	}
}

// trouble logs why there is no link: each cause at once, and again after a while.
func (l *throttledLog) trouble(err error) {
	line := "NATS at " + l.url + " " + cause(err) + "; trying again"
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	last, again := l.logged[line]
	if again && now.Sub(last) < repeatLog || !again && len(l.logged) >= maxCauses && now.Sub(l.last) < repeatLog {
		return
	}
	if l.logged == nil || len(l.logged) >= maxCauses {
		l.logged = map[string]time.Time{}
	}
	l.logged[line], l.last = now, now
	l.log(line)
}

// cause describes what keeps a client from its server, and the remedy.
func cause(err error) string {
	text := strings.TrimPrefix(err.Error(), "nats: ")
	switch low := strings.ToLower(text); {
	case errors.Is(err, nats.ErrNoServers), strings.Contains(low, "connection refused"):
		return "cannot be reached: no server answers there"
	case strings.Contains(low, "authorization"), strings.Contains(low, "authentication"), strings.Contains(low, "nkey"):
		return "refuses this client (" + text + "): give the credentials that it asks for"
	case strings.Contains(low, "tls"), strings.Contains(low, "x509"), errors.Is(err, nats.ErrSecureConnWanted), errors.Is(err, nats.ErrSecureConnRequired):
		return "gives no secure link (" + text + "): check the certificates, the authority, and which side asks for TLS"
	}
	return "cannot be reached (" + text + ")"
}
