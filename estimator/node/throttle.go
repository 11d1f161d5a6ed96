package node

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// throttledLog logs what others cause, and the same not too often.
type throttledLog struct {
	log func(string)

	mu     sync.Mutex
	logged map[string]time.Time // by line that was limited
	last   time.Time            // of any of them
}

const (
	repeatLog = 10 * time.Second // the same line is logged again after this
	maxLines  = 8                // limited lines in that time: some hold numbers that are never the same
)

// now logs a line without limit; what is limited after it is new.
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

// limited logs a line at once, again after a while, and few of them in that while.
func (l *throttledLog) limited(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	last, again := l.logged[line]
	if again && now.Sub(last) < repeatLog || !again && len(l.logged) >= maxLines && now.Sub(l.last) < repeatLog {
		return
	}
	if l.logged == nil || len(l.logged) >= maxLines {
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
