package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/proxy"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// scenario is a fault of the surroundings.
type scenario struct {
	name string
	run  func(s *rig)
}

// scenarios in the order in which they run.
var scenarios = []scenario{
	{"server killed", serverKilled},
	{"server slow", serverSlow},
	{"partitioned for a minute", partitioned},
	{"partitioned for three seconds", partitionedBriefly},
	{"server restarted with other permissions", otherPermissions},
	{"any order of starts", anyOrder},
	{"stalled subscriber", stalledSubscriber},
	{"20x message flood", flood},
	{"malformed messages at full rate", malformed},
	{"disk full", diskFull},
	{"clock set forward by an hour", func(s *rig) { stepClock(s, time.Hour) }},
	{"clock set back by an hour", func(s *rig) { stepClock(s, -time.Hour) }},
	{"stopped for 10 s", stopped},
	{"estimator killed", estimatorKilled},
	{"corrupt model offered", corruptModel},
	{"heavy-model", heavyModel},
	{"query-flood", queryFlood},
	{"lying-bucket", lyingBucket},
	{"downgrade", downgrade},
	{"100 models swapped at 500 Hz", hundredSwaps},
	{"sender starts again", senderAgain},
	{"redelivery", redelivery},
	{"second-robot", secondRobot},
	{"hostile-sensor", hostileSensor},
	{"soak", soak},
	{"24 hours in fast time", dayInFastTime},
}

func serverKilled(s *rig) {
	s.standard()
	s.during(func() {
		stopServer(s.server)
		s.pause(2 * time.Second)
		s.serve()
	})
}

// behindProxy is the usual rig with a proxy between estimator and server.
func (s *rig) behindProxy(cfg node.Config) *proxy.Proxy {
	s.serve()
	p, err := proxy.New(strings.TrimPrefix(s.url(), "nats://"))
	s.must(err)
	s.later(p.Close)
	s.estimate("nats://"+p.Address(), cfg)
	s.fly()
	return p
}

func (s *rig) disturbed(p *proxy.Proxy, delay time.Duration, cut bool, lasts time.Duration) {
	s.during(func() {
		defer p.Set(0, false)
		p.Set(delay, cut)
		s.pause(lasts)
	})
}

// serverSlow: everything to and from the estimator takes 300 ms longer for a while.
func serverSlow(s *rig) {
	s.disturbed(s.behindProxy(node.Config{}), 150*time.Millisecond, false, 3*time.Second)
}

// partitioned: for a minute no byte passes between estimator and server, and no side is
// notified. The clock on the rig does not run faster: a pause of this computer would be longer by it.
func partitioned(s *rig) {
	s.disturbed(s.behindProxy(node.Config{}), 0, true, time.Minute)
}

// partitionedBriefly: for three seconds no byte passes. That is longer than a
// prediction holds, and so short that no keep-alive notices. The estimator
// predicts at a fixed rate, and so goes on for as long as its last state lets it.
func partitionedBriefly(s *rig) {
	s.disturbed(s.behindProxy(node.Config{Rate: chaosRate}), 0, true, 3*time.Second)
}

// otherPermissions: the server comes back with a user who may not publish
// predictions, then with the old one.
func otherPermissions(s *rig) {
	users := func(publish string) func(o *server.Options) {
		return func(o *server.Options) {
			all := &server.SubjectPermission{Allow: []string{">"}}
			o.Users = []*server.User{
				{Username: "client", Password: "pw", Permissions: &server.Permissions{Publish: all, Subscribe: all}},
				{Username: "estimator", Password: "pw", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{publish}}, Subscribe: all}},
			}
		}
	}
	s.serve(users(">"))
	as := func(name string) string { return fmt.Sprintf("nats://%s:pw@127.0.0.1:%d", name, s.port) }
	s.estimate(as("estimator"), node.Config{})
	s.startPlanner(as("client"))
	s.startRobot(as("client"), chaosRate)
	s.settle()
	s.during(func() {
		for _, publish := range []string{"dgm.status.*", ">"} {
			stopServer(s.server)
			s.serve(users(publish))
			s.pause(1500 * time.Millisecond)
		}
	})
}

// anyOrder starts server, estimator, robot and planner in every order.
func anyOrder(s *rig) {
	port := s.reservedPort()
	answered := 0.
	for _, order := range combin.Permutations(4, 4) {
		one := &rig{ctx: s.ctx, dir: s.dir, port: port, model: s.model, clock: s.clock}
		err := one.guard(func() {
			starts := []func(){
				func() { one.serve() }, func() { one.estimate(one.url(), node.Config{}) }, func() { one.startRobot(one.url(), chaosRate) }, func() { one.startPlanner(one.url()) },
			}
			for _, i := range order {
				starts[i]()
				one.pause(20 * time.Millisecond)
			}
			began := time.Now()
			one.settle()
			s.recovered = max(s.recovered, time.Since(began))
			one.pause(200 * time.Millisecond)
		})
		row := study.NewRow(study.Key{})
		if err := one.end(row, err); err != nil {
			s.must(fmt.Errorf("order %v: %w", order, err))
		}
		answered += row.Number("answered")
	}
	s.require(answered >= 24, "only %v states were answered", answered)
	// A last flight, so that this scenario has a planner like the others.
	s.standard()
	s.pause(calm)
}

// stalledSubscriber: somebody subscribes to everything and never reads.
func stalledSubscriber(s *rig) {
	s.standard()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url(), "nats://"))
	s.must(err)
	defer c.Close()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4096)
	}
	_, err = c.Write([]byte("CONNECT {\"verbose\":false}\r\nSUB > 1\r\n"))
	s.must(err)
	s.pause(5 * time.Second)
}

// flood: states of another vehicle come twenty times as fast; both have an estimator in
// this process.
func flood(s *rig) {
	s.standard()
	const other = "flooded"
	n := s.estimate(s.url(), node.Config{Vehicle: other})
	r := newSender(s.link(s.url(), "flood"), other, 20*chaosRate, s.clock)
	defer r.end()
	s.pause(5 * time.Second)
	r.end()
	s.pause(200 * time.Millisecond)
	status := s.statusOf(n)
	sum := status.Published
	for _, reason := range status.Reasons {
		sum += reason.Count
	}
	s.require(status.Received >= uint64(10*chaosRate) && sum+2 >= status.Received, "of %d states of the flood %d are accounted for", status.Received, sum)
}

// malformed: malformed messages come to the same vehicle, 20000 a second, which is
// twenty times what the fastest robot sends.
func malformed(s *rig) {
	s.standard()
	nc := s.link(s.url(), "malformed")
	good := wire.State{Seq: 1, T: 1, X: []float64{0, 0}}
	b := good.Append(nil)
	const rate, burst, lasts = 20000, 100, 4 * time.Second
	count := 0
	for began := time.Now(); time.Since(began) < lasts; s.pause(time.Millisecond) {
		// After a pause of this computer it does not catch up at once.
		for due := min(int(time.Since(began).Seconds()*rate), count+burst); count < due; count++ {
			c := append([]byte(nil), b...)
			c[count%len(c)] ^= byte(1 + count%255)
			if count%3 == 0 {
				c = c[:count%len(c)]
			}
			s.must(nc.Publish(wire.StateSubject(vehicle), c))
		}
	}
	s.require(count >= rate, "only %d malformed messages in %v", count, lasts)
}

// diskFull: the recording and the stored calibration meet a disk that takes no more.
func diskFull(s *rig) {
	s.serve()
	s.later(s.child("--record", s.path("out.msgpack"), "--trust", s.path("trust"), "--most-file-bytes", "40000").stop)
	s.fly()
	s.await(func() bool { return strings.Contains(s.planner.lastStatus().Recording, "cannot be written") },
		func() error {
			return fmt.Errorf("the status does not report the disk: recording %q", s.planner.lastStatus().Recording)
		})
	s.pause(calm)
}

// stepClock sets the wall clock that robot, estimator and planner share.
func stepClock(s *rig, d time.Duration) {
	s.standard()
	s.during(func() { s.clock.step(d) })
}

func stopped(s *rig) {
	s.serve()
	c := s.child()
	s.later(c.stop)
	s.fly()
	s.during(func() {
		s.must(c.cmd.Process.Signal(syscall.SIGSTOP))
		defer func() { s.must(c.cmd.Process.Signal(syscall.SIGCONT)) }()
		s.pause(10 * time.Second)
	})
}

func estimatorKilled(s *rig) {
	s.serve()
	c := s.child()
	s.later(func() error { return c.stop() })
	s.fly()
	s.during(func() {
		s.must(c.cmd.Process.Kill())
		_ = c.stop() // killed
		c = s.child()
	})
}

func hundredSwaps(s *rig) {
	s.serve()
	n := s.estimate(s.url(), node.Config{})
	s.startPlanner(s.url())
	s.startRobot(s.url(), 500)
	s.settle()
	for i := range 100 {
		s.must(n.Swap(smallModel(uint64(i%2) + 2)))
		s.pause(20 * time.Millisecond)
	}
	a, b := s.planner.by(smallModel(2).ID), s.planner.by(smallModel(3).ID)
	s.require(a > 0 && b > 0, "the models answered %d and %d states", a, b)
}

// senderAgain: the robot starts again and counts from 1.
func senderAgain(s *rig) {
	s.standard()
	s.during(func() {
		s.robot.again()
		s.planner.forget()
	})
}

// redelivery: bursts of 20 states that were answered already come again, to one vehicle
// with a shared clock and one with its own. None is answered twice.
func redelivery(s *rig) {
	s.standard()
	const other, burst, bursts = "redelivered", 20, 10
	s.estimate(s.url(), node.Config{Vehicle: other, RobotClock: true})
	nc := s.link(s.url(), "detour")
	own := newSender(s.link(s.url(), "second robot"), other, chaosRate, s.clock)
	defer own.end()
	detours := []*detour{s.detour(nc, vehicle), s.detour(nc, other)}
	s.pause(calm)
	for i := range bursts {
		for _, d := range detours {
			d.again(burst)
		}
		s.must(nc.Flush())
		s.pause(time.Duration(20+10*i) * time.Millisecond)
	}
	own.end() // a burst after the end must not look like a start either
	s.pause(calm)
	detours[1].again(burst)
	s.pause(calm)
	for _, d := range detours {
		answered, twice := d.count()
		s.require(answered > 100 && twice == 0, "vehicle %s: %d states were answered, and of %d that came again %d", d.vehicle, answered, burst*bursts, twice)
	}
}

// secondRobot: a second robot that starts later sends under the same name. The status
// names it, and the first one's states are answered.
func secondRobot(s *rig) {
	n := s.standard()
	s.pause(calm)
	second := newSender(s.link(s.url(), "second robot"), vehicle, chaosRate, s.clock)
	defer second.end()
	s.await(func() bool {
		status := s.statusOf(n)
		return slices.ContainsFunc(status.Alarms(), func(a wire.Alarm) bool { return a.Name == "reason_"+wire.SecondSender.String() })
	}, func() error { return errors.New("the status does not name the second robot") })
	s.pause(3 * time.Second)
}

// dayInFastTime sends a state every 100 ms of a simulated day, as fast as they are
// answered, and compares what the process holds after a tenth of it and at the end.
func dayInFastTime(s *rig) {
	s.serve()
	s.clock = newClock(0)
	n := s.estimate(s.url(), node.Config{TrustFile: s.path("trust")})
	s.startPlanner(s.url())
	nc := s.link(s.url(), "robot")
	s.robot = &sender{clock: s.clock, was: map[uint64]sending{}}
	// Time must not pass before the planner has checked the answer, and hardly before the estimator has done what it does after it: all of it
	// counts as the time that a prediction takes, and an estimator whose predictions take a period leaves states out.
	answers := s.planner.report()
	const period, settles = 100 * time.Millisecond, 50 * time.Microsecond
	total := uint64(s.lasts.day / period)
	var before usage
	state := wire.State{X: make([]float64, 2)}
	for seq := uint64(1); seq <= total; seq++ {
		s.clock.pass(period)
		state.Seq, state.T = seq, s.clock.unix()
		state.X[0], state.X[1] = float64(seq%100)/300, float64(seq%77)/300
		s.ask(nc, state.Append(nil), seq, answers)
		time.Sleep(settles)
		s.planner.thin()
		if seq == total/10 {
			before = measureUsage()
		}
	}
	s.robot.was[total] = sending{at: time.Now()}
	after := measureUsage()
	for end := time.Now().Add(patience); after.files > before.files && time.Now().Before(end); after = measureUsage() {
		s.pause(10 * time.Millisecond) // the trust file may be open just now
	}
	s.require(after.goroutines <= before.goroutines && after.files <= before.files && after.heap <= before.heap*1.2+2, "grown from %+v to %+v", before, after)
	s.require(len(s.statusOf(n).Checks) > 0, "nothing was checked in %v", s.lasts.day)
}

// ask sends a state and waits for its answer. The first one is sent until the estimator
// listens.
func (s *rig) ask(nc *nats.Conn, state []byte, seq uint64, answers <-chan uint64) {
	s.must(nc.Publish(wire.StateSubject(vehicle), state))
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(goneFor); time.Now().Before(end); {
		select {
		case got := <-answers:
			if got == seq {
				return
			}
		case <-s.ctx.Done():
			s.must(s.ctx.Err())
		case <-again.C:
			if seq == 1 {
				s.must(nc.Publish(wire.StateSubject(vehicle), state))
			}
		}
	}
	s.must(fmt.Errorf("state %d was not answered", seq))
}
