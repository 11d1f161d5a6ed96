package main

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/cmd/internal/keys"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// served is a served vehicle.
type served struct {
	settings vehicle
	node     *node.Node
	nc       *nats.Conn
	log      func(string)
}

// run serves until ctx is done.
func run(ctx context.Context, s *settings, out, messages io.Writer) error {
	var mu sync.Mutex
	log := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(messages, "dgm-estimator: %s\n", line)
	}
	key, err := s.key()
	if err != nil {
		return err
	}
	all, failed := prepare(s, key, log)
	defer func() {
		for _, v := range all {
			v.nc.Close()
		}
	}()
	if len(all) == 0 {
		return failed
	}
	if failed != nil { // the others are served
		log(failed.Error())
	}
	_, end, err := s.Metrics.listen(all)
	if err != nil {
		return err
	}
	defer end()
	if err := s.realtime().Apply(); err != nil {
		log(err.Error())
	}
	return errors.Join(failed, serve(ctx, s, all, out, log))
}

// key returns the public key that models are verified with, nil for none.
func (s *settings) key() (ed25519.PublicKey, error) {
	if s.Models.PublicKey == "" {
		return nil, nil
	}
	return keys.Public(s.Models.PublicKey)
}

// prepare loads the model of every vehicle and connects for it: each has a link of
// its own, so that a flood for one does not delay the others. It returns those that
// can be served, and why others cannot.
func prepare(s *settings, key ed25519.PublicKey, log func(string)) (all []*served, failed error) {
	names := map[string]bool{}
	for _, v := range s.vehicles() {
		p, err := v.prepare(s, key, log)
		if err == nil && names[p.node.Vehicle()] {
			p.nc.Close()
			err = fmt.Errorf("%s: vehicle %q is served already; give each a name", v.Model, p.node.Vehicle())
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		names[p.node.Vehicle()] = true
		all = append(all, p)
	}
	return all, failed
}

func (v vehicle) prepare(s *settings, key ed25519.PublicKey, log func(string)) (*served, error) {
	n := &s.NATS
	reads := []string{v.Model, s.Models.PublicKey, n.Creds, n.NKey, n.CA, n.Cert, n.Key}
	if err := cli.Apart("record or trust_file", reads, []string{v.Record, v.TrustFile}); err != nil {
		return nil, err
	}
	if err := cli.Outputs("record", nil, []string{v.Record}); err != nil {
		return nil, err
	}
	m, statement, err := model.ReadSigned(v.Model, key)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(v.Vehicle, m.Vehicle)
	accept := model.Acceptance{Key: key, Vehicle: name, Fleet: s.Models.Fleet, Least: s.Models.LeastSequence, Unnumbered: s.Models.Unnumbered, Now: time.Now().UnixNano()}
	kept, err := node.ReadAccepted(node.AcceptedFile(v.TrustFile), key)
	if err != nil {
		return nil, err
	}
	of := m.ID
	if m, accept, err = kept.Choose(accept, m, statement); err != nil {
		return nil, fmt.Errorf("%s: %w", v.Model, err)
	}
	if len(s.vehicles()) > 1 {
		common := log
		log = func(line string) { common(name + ": " + line) }
	}
	switch {
	case m.ID != of:
		log(fmt.Sprintf("using model %s, accepted earlier as number %d: %s has an older one", m.ID, kept.Sequence, v.Model))
	case key != nil && v.TrustFile == "":
		log("after a restart older signatures are accepted again: set trust_file, or least_sequence")
	}
	cfg := v.node(m, log)
	cfg.Accept, cfg.MaxMemory, cfg.Priority, cfg.SwapPermission = accept, s.Models.MaxMemory<<20, s.Realtime.Priority, s.Models.Swap == "permitted"
	p := &served{settings: v, log: log}
	if p.node, err = node.New(cfg, m); err != nil {
		return nil, fmt.Errorf("%s: %w", v.Model, err)
	}
	if p.nc, err = n.For(p.node.Vehicle()).Link("dgm-estimator "+p.node.Vehicle(), log).Connect(); err != nil {
		return nil, err
	}
	times := p.node.Times()
	mode := "an answer to each state"
	if v.Rate > 0 {
		mode = fmt.Sprintf("at %g Hz", v.Rate)
	}
	log(fmt.Sprintf("model %s: %s and %s, %s up to %g s, %s; %s → %s, instance %s", m.ID, cli.Count(m.K, "state"), cli.Count(m.P, "input"), cli.Count(len(times), "point"),
		times[len(times)-1], mode, wire.StateSubject(p.node.Vehicle()), wire.PredictSubject(p.node.Vehicle()), p.node.Instance()))
	return p, nil
}

// serve runs the nodes, and beside them what reloads models and notifies the service
// manager, until ctx is done, or until all nodes have ended.
func serve(ctx context.Context, s *settings, all []*served, out io.Writer, log func(string)) error {
	beside, cancel := context.WithCancel(ctx)
	var sides sync.WaitGroup
	defer func() { cancel(); sides.Wait() }()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP) // before anything is answered: none is lost
	defer signal.Stop(hup)
	sides.Go(func() { reload(beside, hup, all) })
	sides.Go(func() { notifySystemd(beside, all, log) })
	for _, v := range all {
		if s.Models.Bucket == "" {
			continue
		}
		// Models are large: they come over a link of their own.
		nc, err := s.NATS.For(v.node.Vehicle()).Link("dgm-estimator models "+v.node.Vehicle(), nil).Connect()
		if err != nil {
			return err
		}
		defer nc.Close()
		object := cmp.Or(v.settings.Object, v.node.Vehicle()+".dgm")
		sides.Go(func() { v.node.Watch(beside, nc, s.Models.Bucket, object) })
	}
	errs := make([]error, len(all))
	var nodes sync.WaitGroup
	for i, v := range all {
		nodes.Go(func() {
			if errs[i] = v.node.Run(ctx, v.nc); errs[i] != nil && len(all) > 1 {
				v.log(errs[i].Error())
			}
		})
	}
	nodes.Wait()
	for _, v := range all {
		received, published := v.node.Totals()
		verb := "were answered"
		if v.settings.Rate > 0 {
			verb = "predictions were made"
		}
		unused := v.node.Unused()
		if unused != "" {
			unused = "; not used: " + unused
		}
		fmt.Fprintf(out, "%s: %s received, %d %s%s\n", v.node.Vehicle(), cli.Count(int(received), "state"), published, verb, unused)
	}
	return errors.Join(errs...)
}

// reload offers the model files again on each SIGHUP, until ctx is done. Where a model
// is refused, the one in use stays.
func reload(ctx context.Context, hup <-chan os.Signal, all []*served) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			for _, v := range all {
				v.node.OfferFile(v.settings.Model)
			}
		}
	}
}
