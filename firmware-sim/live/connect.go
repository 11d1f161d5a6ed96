package live

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Connect opens a connection as Run wants it: it waits for a server that is not
// there yet, comes back by itself, and keeps nothing for later while the server
// is away. What happens to the link goes to say, in sentences without a full
// stop; say may be called from several goroutines.
func Connect(url, name string, say func(string), more ...nats.Option) (*nats.Conn, error) {
	nc, err := nats.Connect(url, append([]nats.Option{
		nats.Name(name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond),
		nats.ReconnectBufSize(-1),
		nats.ConnectHandler(func(c *nats.Conn) { say("connected to " + c.ConnectedUrlRedacted()) }),
		nats.ReconnectHandler(func(c *nats.Conn) { say("connected again to " + c.ConnectedUrlRedacted()) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				say(fmt.Sprintf("lost the server (%v), states are dropped until it is back", err))
			}
		}),
		nats.ReconnectErrHandler(refusals(say)),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { say(err.Error()) }),
	}, more...)...)
	if err != nil {
		return nil, fmt.Errorf("NATS at %s: %w", url, err)
	}
	if !nc.IsConnected() {
		say("waiting for a NATS server at " + url)
	}
	return nc, nil
}

// refusals says why a server that is there gives no link, once for each reason in
// a row.
func refusals(say func(string)) nats.ConnErrHandler {
	last := ""
	return func(_ *nats.Conn, err error) { // never two at a time
		text := err.Error()
		if errors.Is(err, nats.ErrNoServers) || strings.Contains(text, "connection refused") || text == last {
			return
		}
		last = text
		say(fmt.Sprintf("no link (%s), trying again", text))
	}
}
