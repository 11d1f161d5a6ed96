package node

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// serveCommands answers commands about the model until the subscription ends.
func (n *Node) serveCommands(nc *nats.Conn) (*nats.Subscription, error) {
	subject := wire.ModelSubject(n.cfg.Vehicle)
	sub, err := nc.Subscribe(subject, func(m *nats.Msg) {
		o := n.obey(m.Data)
		if m.Reply != "" {
			_ = m.Respond(o.Append(nil)) // who asked may be gone
		}
	})
	if err != nil {
		return nil, fmt.Errorf("subscribing to %s: %w", subject, err)
	}
	return sub, nil
}

// obey does what a command says.
func (n *Node) obey(data []byte) *wire.Outcome {
	var c wire.Command
	if err := c.Decode(data); err != nil {
		return &wire.Outcome{Model: n.Model(), Error: shorten(err.Error())}
	}
	if c.Action != wire.Rollback {
		return &wire.Outcome{Model: n.Model(), Error: fmt.Sprintf("action %.40q is not known, there is %s", c.Action, wire.Rollback)}
	}
	id, err := n.Rollback()
	if err != nil {
		n.cfg.Log("rolling back: " + err.Error())
		return &wire.Outcome{Model: n.Model(), Error: shorten(err.Error())}
	}
	n.cfg.Log("rolled back to model " + id)
	return &wire.Outcome{Model: id}
}
