package node

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// talk tells an operator about the link, and the same trouble not too often.
type talk struct {
	log func(string)
	url string

	mu   sync.Mutex
	told map[string]time.Time // by line of trouble
	at   time.Time            // of the last one
}

func (t *talk) now(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.told)
	t.log(line)
}

// trouble tells why there is no link. Each cause is told at once, and again after
// a while.
func (t *talk) trouble(err error) {
	line := "NATS at " + t.url + " " + cause(err) + "; trying again"
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	last, again := t.told[line]
	if again && now.Sub(last) < repeatLog || !again && len(t.told) >= maxCauses && now.Sub(t.at) < repeatLog {
		return
	}
	if t.told == nil || len(t.told) >= maxCauses {
		t.told = map[string]time.Time{}
	}
	t.told[line], t.at = now, now
	t.log(line)
}

// maxCauses bounds how many causes are told in a while: some hold numbers that are
// never the same.
const maxCauses = 8

// cause says in words what keeps a client from its server.
func cause(err error) string {
	text := strings.TrimPrefix(err.Error(), "nats: ")
	switch low := strings.ToLower(text); {
	case errors.Is(err, nats.ErrNoServers), strings.Contains(low, "connection refused"):
		return "cannot be reached: no server answers there"
	case strings.Contains(low, "authorization"), strings.Contains(low, "authentication"), strings.Contains(low, "nkey"):
		return "refuses this client (" + text + "): give the credentials that it asks for"
	case strings.Contains(low, "tls"), strings.Contains(low, "x509"), errors.Is(err, nats.ErrSecureConnWanted), errors.Is(err, nats.ErrSecureConnRequired):
		return "gives no secure link (" + text + "): look at the certificates, the authority and who asks for TLS"
	}
	return "cannot be reached (" + text + ")"
}
