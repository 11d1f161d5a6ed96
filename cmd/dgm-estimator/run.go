package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/keys"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// craft is one vehicle that is served.
type craft struct {
	settings vehicle
	node     *node.Node
	nc       *nats.Conn
	say      func(string)
}

// run serves until ctx is done.
func run(ctx context.Context, s *settings, out, messages io.Writer) error {
	var mu sync.Mutex
	say := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(messages, "dgm-estimator: %s\n", line)
	}
	key, err := s.key()
	if err != nil {
		return err
	}
	crafts, failed := prepare(s, key, say)
	defer func() {
		for _, c := range crafts {
			c.nc.Close()
		}
	}()
	if len(crafts) == 0 {
		return failed
	}
	if failed != nil { // the others fly
		say(failed.Error())
	}
	page, err := s.Metrics.listen(crafts)
	if err != nil {
		return err
	}
	defer page.close()
	if err := s.realtime().Apply(); err != nil {
		say(err.Error())
	}
	return errors.Join(failed, serve(ctx, s, crafts, out, say))
}

// key returns the public key that models are verified with, nil for none.
func (s *settings) key() (ed25519.PublicKey, error) {
	if s.Models.PublicKey == "" {
		return nil, nil
	}
	return keys.Public(s.Models.PublicKey)
}

// prepare loads the model of every vehicle and connects for it: each has a link of
// its own, so that a flood for one is not in the way of the others. It returns
// those that can be served, and why others cannot.
func prepare(s *settings, key ed25519.PublicKey, say func(string)) (crafts []*craft, failed error) {
	several := len(s.vehicles()) > 1
	names := map[string]bool{}
	for _, v := range s.vehicles() {
		c, err := v.prepare(s, key, several, say)
		if err == nil && names[c.node.Vehicle()] {
			c.nc.Close()
			err = fmt.Errorf("%s: vehicle %q is served already; give each a name", v.Model, c.node.Vehicle())
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		names[c.node.Vehicle()] = true
		crafts = append(crafts, c)
	}
	return crafts, failed
}

func (v vehicle) prepare(s *settings, key ed25519.PublicKey, several bool, say func(string)) (*craft, error) {
	link := &s.NATS
	reads := []string{v.Model, s.Models.PublicKey, link.Creds, link.NKey, link.CA, link.Cert, link.Key}
	if err := cli.Apart("record or trust_file", reads, []string{v.Record, v.TrustFile}); err != nil {
		return nil, err
	}
	if err := cli.Outputs("record", nil, []string{v.Record}); err != nil {
		return nil, err
	}
	m, err := model.ReadSigned(v.Model, key)
	if err != nil {
		return nil, err
	}
	if several {
		name, all := v.Vehicle, say
		if name == "" {
			name = m.Vehicle
		}
		say = func(line string) { all(name + ": " + line) }
	}
	cfg := v.node(m, say)
	cfg.PublicKey, cfg.Priority = key, s.Realtime.Priority
	n, err := node.New(cfg, m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.Model, err)
	}
	nc, err := s.link("dgm-estimator "+n.Vehicle(), say).Connect()
	if err != nil {
		return nil, err
	}
	times := n.Times()
	mode := "an answer to each state"
	if v.Rate > 0 {
		mode = fmt.Sprintf("at %g Hz", v.Rate)
	}
	say(fmt.Sprintf("model %s: %s and %s, %s up to %g s, %s; %s → %s, instance %s", m.ID, cli.Count(m.K, "state"), cli.Count(m.P, "input"),
		cli.Count(len(times), "point"), times[len(times)-1], mode, wire.StateSubject(n.Vehicle()), wire.PredictSubject(n.Vehicle()), n.Instance()))
	return &craft{settings: v, node: n, nc: nc, say: say}, nil
}

// serve runs the nodes and what stands beside them until ctx is done, or until all
// nodes have ended.
func serve(ctx context.Context, s *settings, crafts []*craft, out io.Writer, say func(string)) error {
	beside, cancel := context.WithCancel(ctx)
	var sides sync.WaitGroup
	defer func() { cancel(); sides.Wait() }()
	sides.Go(func() { reload(beside, crafts) })
	sides.Go(func() { tellSystemd(beside, crafts, say) })
	for _, c := range crafts {
		if s.Models.Bucket == "" {
			continue
		}
		// Models are large: they come over a link of their own.
		link, err := s.link("dgm-estimator models "+c.node.Vehicle(), func(string) {}).Connect()
		if err != nil {
			return err
		}
		defer link.Close()
		object := c.settings.Object
		if object == "" {
			object = c.node.Vehicle() + ".dgm"
		}
		sides.Go(func() { c.node.Watch(beside, link, s.Models.Bucket, object) })
	}
	errs := make([]error, len(crafts))
	var nodes sync.WaitGroup
	for i, c := range crafts {
		nodes.Go(func() {
			if errs[i] = c.node.Run(ctx, c.nc); errs[i] != nil && len(crafts) > 1 {
				c.say(errs[i].Error())
			}
		})
	}
	nodes.Wait()
	for _, c := range crafts {
		received, published := c.node.Totals()
		verb := "were answered"
		if c.settings.Rate > 0 {
			verb = "predictions were made"
		}
		unused := c.node.Unused()
		if unused != "" {
			unused = "; not used: " + unused
		}
		fmt.Fprintf(out, "%s: %s came, %d %s%s\n", c.node.Vehicle(), cli.Count(int(received), "state"), published, verb, unused)
	}
	return errors.Join(errs...)
}
