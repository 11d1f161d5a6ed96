package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

const (
	soakRate      = 500.            // states a second, Hz
	soakReordered = 97              // each so many-th state comes after the next
	soakCycle     = 6 * time.Second // of a kill of the server, at most: a soak has two
	soakSwap      = time.Second
	soakGrowth    = 16 // MB by which the estimator may grow after the first cycle
)

// soak: for as long as is wanted the estimator's model is replaced every second, its disk is full, states
// are reordered, and every few seconds the server is killed. No prediction is wrong, and every
// state is accounted for: answered, sent while the server was away, or counted on the status with its reason.
func soak(s *rig) {
	s.serve()
	second := s.path("second.dgm")
	s.must(model.WriteFile(second, smallModel(2)))
	c := s.child("--record", s.path("out.msgpack"), "--trust", s.path("trust"), "--most-file-bytes", "40000", "--other", second, "--swap", soakSwap.String())
	stop := sync.OnceValue(c.stop)
	s.later(stop)
	s.startPlanner(s.url())
	s.robot = newReordering(s.link(s.url(), "robot"), vehicle, soakRate, soakReordered, s.clock)
	s.planner.watch(s.robot)
	s.later(func() error { s.robot.end(); return nil })
	s.settle()
	began, first := time.Now(), 0.0
	kills, cycle := 0, min(soakCycle, s.lasts.soak/2)
	for ; time.Since(began) < s.lasts.soak; kills++ {
		s.pause(cycle - 2*calm)
		s.during(func() {
			stopServer(s.server)
			s.pause(calm)
			s.serve()
		})
		s.account(time.Now().Add(-calm))
		s.faults = s.faults[len(s.faults)-1:]
		if first == 0 {
			first = c.resident()
		}
	}
	last := c.resident()
	s.robot.end()
	s.pause(calm / 2)
	s.must(stop())
	s.pause(calm / 2) // for the last status
	status := s.planner.lastStatus()
	s.figures = fmt.Sprintf("%d kills of the server, %d models, %d states reordered, %.0f MB after the first kill, %.0f at the end", kills, status.Swaps, s.reordered, first, last)
	s.require(status.Recording != "", "the status does not report the disk")
	s.require(float64(status.Swaps) > 0.8*time.Since(began).Seconds()/soakSwap.Seconds() && status.Refused == "", "%d models in %v, refused %q", status.Swaps, time.Since(began), status.Refused)
	sum, reordered := status.Published, uint64(0)
	for _, r := range status.Reasons {
		sum += r.Count
		if r.Reason == wire.OutOfOrder.String() {
			reordered = r.Count
		}
	}
	s.require(sum == status.Received, "of %d states received %d are accounted for", status.Received, sum)
	s.require(uint64(s.reordered) <= reordered, "%d states were reordered and have no answer, %d are counted so", s.reordered, reordered)
	a, b := s.planner.by(s.model.ID), s.planner.by(smallModel(2).ID)
	if a == 0 || b == 0 {
		s.must(errors.New("one of the two models answered nothing"))
	}
	s.require(last <= first+soakGrowth, "the estimator has grown: %s", s.figures)
}
