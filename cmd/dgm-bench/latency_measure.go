package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/realtime"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

const (
	vehicle   = "bench"
	warmUp    = 20               // states that are not counted
	patience  = 10 * time.Second // for what starts
	straggler = time.Second      // for the last answers
)

// measureLatency measures one row.
func measureLatency(ctx context.Context, m *model.Model, j latencyJob) (row latencyRow, err error) {
	row = latencyRow{Rate: j.rate, Points: j.points, Loaded: j.loaded}
	s, err := startServer(server.RANDOM_PORT)
	if err != nil {
		return row, err
	}
	defer stopServer(s)
	dir, err := os.MkdirTemp("", "dgm-bench")
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "flight.dgm")
	if err := model.WriteFile(file, m); err != nil {
		return row, err
	}
	if j.loaded {
		burn, err := startChild("burn")
		if err != nil {
			return row, err
		}
		defer func() { _ = burn.stop() }()
	}
	est, err := startChild("serve", "--nats", s.ClientURL(), "--model", file, "--points", strconv.Itoa(j.points), "--priority", strconv.Itoa(j.priority))
	if err != nil {
		return row, err
	}
	sent := warmUp + int(math.Round(j.rate*j.duration.Seconds()))
	half := 0.
	latencies, short, err := exchange(ctx, s.ClientURL(), m, j.rate, sent, func() { half = est.resident() })
	row.Memory = est.resident()
	row.Growth = row.Memory - half
	if e := est.stop(); err == nil && e != nil {
		err = fmt.Errorf("the estimator: %w", e)
	}
	if err != nil {
		return row, err
	}
	row.fill(latencies[warmUp:])
	row.Short = short
	return row, nil
}

// fill summarises latencies in ns, 0 = never answered.
func (r *latencyRow) fill(latencies []int64) {
	var came []int64
	for _, ns := range latencies {
		switch {
		case ns == 0:
			r.Missing++
		default:
			came = append(came, ns)
			if float64(ns) > 1e9/r.Rate {
				r.Late++
			}
		}
	}
	if len(came) == 0 {
		return
	}
	slices.Sort(came)
	at := func(q float64) float64 { return float64(came[min(int(q*float64(len(came))), len(came)-1)]) * 1e-3 }
	r.P50, r.P99, r.P999 = at(0.5), at(0.99), at(0.999)
}

// exchange sends states at a rate and returns the latency of each in ns, 0 for
// those that were never answered, and how many answers after the warm-up were of a
// shorter horizon. half is called when half of them were sent.
func exchange(ctx context.Context, url string, m *model.Model, rate float64, states int, half func()) (ns []int64, short int, err error) {
	nc, err := nats.Connect(url, nats.Name("dgm-bench client"))
	if err != nil {
		return nil, 0, fmt.Errorf("NATS at %s: %w", url, err)
	}
	defer nc.Close()
	var (
		start     = time.Now()
		sentAt    = make([]atomic.Int64, states)
		latencies = make([]atomic.Int64, states)
		answered  atomic.Int64
		shortened atomic.Int64
		p         wire.Prediction
	)
	if _, err := nc.Subscribe(wire.PredictSubject(vehicle), func(msg *nats.Msg) {
		now := int64(time.Since(start))
		if p.Decode(msg.Data) != nil || p.Seq >= uint64(states) {
			return
		}
		if latencies[p.Seq].CompareAndSwap(0, now-sentAt[p.Seq].Load()) {
			if answered.Add(1); p.Seq >= warmUp && p.Flags&wire.Shortened != 0 {
				shortened.Add(1)
			}
		}
	}); err != nil {
		return nil, 0, err
	}
	if err := awaitEstimator(ctx, nc); err != nil {
		return nil, 0, err
	}
	rng := rand.New(rand.NewPCG(1, 1))
	s := wire.State{X: make([]float64, m.K), U: make([]float64, m.P), Plan: make([]float64, 5*m.P)}
	var buf []byte
	sleeper := realtime.NewSleeper(int64(time.Since(start)), 0)
	defer sleeper.Close()
	begin := int64(time.Since(start))
	for i := range states {
		sleeper.Until(begin + int64(float64(i)/rate*1e9))
		if i == states/2 {
			half()
		}
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		for _, v := range [][]float64{s.X, s.U, s.Plan} {
			for j := range v {
				v[j] = rng.NormFloat64()
			}
		}
		s.Seq, s.T = uint64(i), time.Now().UnixNano()
		buf = s.Append(buf[:0])
		sentAt[i].Store(int64(time.Since(start)))
		if err := nc.Publish(wire.StateSubject(vehicle), buf); err != nil {
			return nil, 0, err
		}
	}
	for end := time.Now().Add(straggler); answered.Load() < int64(states) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	out := make([]int64, states)
	for i := range out {
		out[i] = latencies[i].Load()
	}
	return out, int(shortened.Load()), nil
}

// awaitEstimator returns when the estimator has said that it is there.
func awaitEstimator(ctx context.Context, nc *nats.Conn) error {
	there, err := nc.SubscribeSync(wire.StatusSubject(vehicle))
	if err != nil {
		return err
	}
	defer func() { _ = there.Unsubscribe() }()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := there.NextMsgWithContext(ctx); err != nil {
		return fmt.Errorf("the estimator does not start: %w", err)
	}
	return nil
}
