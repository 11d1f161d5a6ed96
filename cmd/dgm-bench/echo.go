package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// startEcho starts an echo for the states of a model that takes as long for an answer as the estimator of
// an exchange.
func (s *rig) startEcho(j *latencyJob, m *model.Model, estimator *exchange) error {
	for end := time.Now().Add(patience); estimator.took.Load() == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	c, err := startChild("echo", "--nats", s.url(), "--points", strconv.Itoa(j.points), "--states", strconv.Itoa(m.K), "--inputs", strconv.Itoa(m.P), "--priority", strconv.Itoa(j.priority),
		"--busy", time.Duration(estimator.took.Load()).String())
	if err == nil {
		s.later(c.stop)
	}
	return err
}

// echoCommand answers states without a model: it keeps a core busy for a while and sends a message of
// the size of a prediction.
func echoCommand() *cobra.Command {
	var url string
	var points, K, P, priority int
	var busy time.Duration
	cmd := &cobra.Command{Use: "echo", Hidden: true, Args: cobra.NoArgs}
	f := cmd.Flags()
	f.StringVar(&url, "nats", "", "")
	f.IntVar(&points, "points", 1, "")
	f.IntVar(&K, "states", 1, "")
	f.IntVar(&P, "inputs", 0, "")
	f.IntVar(&priority, "priority", 0, "")
	f.DurationVar(&busy, "busy", 0, "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := untilStdinEnds(cmd.Context(), cmd.InOrStdin())
		defer cancel()
		if err := applyRealtime(priority); err != nil {
			return err
		}
		nc, err := node.Link{URL: url, Name: "dgm-bench echo"}.Connect()
		if err != nil {
			return err
		}
		defer nc.Close()
		p := wire.Prediction{Vehicle: echoVehicle, Model: "none", Instance: "echo", Horizon: speed.Times(1, points), Units: make([]string, K), Inputs: "hold"}
		for k := range K {
			p.Channels = append(p.Channels, fmt.Sprint("x", k))
		}
		n := points * K
		p.Mean, p.Std, p.ObsStd = make([]float64, n), make([]float64, n), make([]float64, n)
		var s wire.State
		var buf []byte
		_, err = nc.Subscribe(wire.StateSubject(echoVehicle), func(m *nats.Msg) {
			until := time.Now().Add(busy)
			if s.Decode(m.Data, K, P) != nil {
				return
			}
			for now := time.Now(); now.Before(until); now = time.Now() { // a core is busy, as with a prediction
				continue
			}
			p.Seq, p.T = s.Seq, s.T
			p.ValidUntil = s.T + 1e9
			buf = p.Append(buf[:0])
			_ = nc.Publish(wire.PredictSubject(echoVehicle), buf) // an answer that is not sent is missing
		})
		if err != nil {
			return err
		}
		alive := time.NewTicker(100 * time.Millisecond)
		defer alive.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-alive.C:
				if err := nc.Publish(wire.StatusSubject(echoVehicle), []byte{0}); err != nil && nc.IsClosed() {
					return err
				}
			}
		}
	}
	return cmd
}
