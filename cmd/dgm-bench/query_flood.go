package main

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

const (
	floodTurns   = 5 // quiet ones, and as many with the flood
	floodTurn    = 1500 * time.Millisecond
	floodSettles = 300 * time.Millisecond // of a turn: not counted
	floodClients = 12
	floodBatch   = 1024                   // questions of a query
	floodRate    = 200.                   // states a second, Hz
	floodBusy    = 150 * time.Microsecond // what the echo takes for an answer, as a prediction
	floodSlack   = time.Millisecond       // of the operating system's scheduler
)

// queryFlood: a dozen clients ask for large batches as fast as they are answered or
// refused, and the estimator has two processors. In turns with the flood and without it the
// latency of predictions is measured, and beside it that of a bare echo in a process of its own: what
// the computer and the server do to both is not the estimator's doing. The 99th percentile over that of the
// echo, in the middle turn beside the flood, is at most twice that of the middle quiet one, or twice the echo.
func queryFlood(s *rig) {
	s.model = artificial.New(artificial.Size{K: 2, P: 1, Features: 100, Basis: 1, Points: 100, Horizon: 1, Members: 2, Core: []int{32, 32}}, 1)
	s.serve()
	s.later(s.child("--procs", "2").stop)
	s.startPlanner(s.url())
	s.startRobot(s.url(), floodRate)
	echo, err := startChild("echo", "--nats", s.url(), "--states", "2", "--inputs", "1", "--points", "100", "--busy", floodBusy.String())
	s.must(err)
	s.later(echo.stop)
	echoed, err := newPlanner(s.link(s.url(), "echo's planner"), echoVehicle, s.clock)
	s.must(err)
	sender := newSender(s.link(s.url(), "echo's robot"), echoVehicle, floodRate, s.clock)
	s.later(func() error { sender.end(); return nil })
	s.settle()
	var on, ended atomic.Bool
	var answered, refused atomic.Int64
	var clients sync.WaitGroup
	s.later(func() error { ended.Store(true); clients.Wait(); return nil })
	q := wire.Query{States: []float64{0.1, 0.2}, Rows: 1, PlanDt: 1, Dtype: "f4", Parts: true}
	for i := range floodBatch {
		q.Plans = append(q.Plans, float64(i)/floodBatch)
	}
	data := q.Append(nil)
	for range floodClients {
		nc := s.link(s.url(), "flood")
		clients.Go(func() { floodQueries(nc, data, &on, &ended, &answered, &refused) })
	}
	var p99, echoes [2][]time.Duration
	var ratios [2][]float64
	var missing [2]int
	percentile := func(came []time.Duration) time.Duration { return came[min(len(came)*99/100, len(came)-1)] }
	for turn := range 2 * floodTurns {
		kind := turn % 2
		on.Store(kind == 1)
		s.pause(floodSettles)
		from := time.Now()
		s.pause(floodTurn)
		to := time.Now()
		s.pause(floodSettles) // for the last answers
		came, without := s.planner.latencies(s.robot, from, to)
		s.require(len(came) > 0, "nothing was answered in turn %d", turn)
		p99[kind] = append(p99[kind], percentile(came))
		missing[kind] += without
		came, _ = echoed.latencies(sender, from, to)
		s.require(len(came) > 0, "the echo answered nothing in turn %d", turn)
		echoes[kind] = append(echoes[kind], percentile(came))
		ratios[kind] = append(ratios[kind], float64(p99[kind][turn/2]+floodSlack)/float64(echoes[kind][turn/2]+floodSlack))
	}
	on.Store(false)
	slices.Sort(ratios[0])
	slices.Sort(ratios[1])
	quiet, flooded := ratios[0][floodTurns/2], ratios[1][floodTurns/2]
	s.figures = fmt.Sprintf("p99 over an echo's %.2f quiet, %.2f beside the flood; p99 quiet %v, beside the flood %v, in turns, of the echo %v and %v; missing %d and %d; %d queries answered, %d refused",
		quiet, flooded, p99[0], p99[1], echoes[0], echoes[1], missing[0], missing[1], answered.Load(), refused.Load())
	s.require(answered.Load() > 0, "no query was answered: %s", s.figures)
	s.require(flooded <= 2*max(1, quiet), "%s", s.figures)
}

// floodQueries asks while it is on, until it has ended.
func floodQueries(nc *nats.Conn, data []byte, on, ended *atomic.Bool, answered, refused *atomic.Int64) {
	for !ended.Load() {
		if !on.Load() {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		m, err := nc.Request(wire.QuerySubject(vehicle), data, 2*time.Second)
		switch {
		case err != nil || len(m.Header) > 0:
			refused.Add(1)
		default:
			answered.Add(1)
		}
	}
}
