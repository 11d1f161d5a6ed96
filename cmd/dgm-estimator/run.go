package main

import (
	"context"
	"fmt"
	"io"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// run serves until ctx is done.
func run(ctx context.Context, s *settings, out, messages io.Writer) error {
	say := func(line string) { fmt.Fprintf(messages, "dgm-estimator: %s\n", line) }
	m, err := model.ReadFile(s.Model)
	if err != nil {
		return err
	}
	n, err := node.New(s.node(m, say), m)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Model, err)
	}
	nc, err := s.link("dgm-estimator "+n.Vehicle(), say).Connect()
	if err != nil {
		return err
	}
	defer nc.Close()
	times := n.Times()
	say(fmt.Sprintf("model %s: %d states and %d inputs, %d points up to %g s; %s → %s, instance %s", m.ID, m.K, m.P,
		len(times), times[len(times)-1], wire.StateSubject(n.Vehicle()), wire.PredictSubject(n.Vehicle()), n.Instance()))
	if err := n.Run(ctx, nc); err != nil {
		return err
	}
	received, published := n.Totals()
	fmt.Fprintf(out, "%s: %d states came, %d were answered\n", n.Vehicle(), received, published)
	return nil
}
