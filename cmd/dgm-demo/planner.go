package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/judge"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// planner receives dgm.predict.* as any program could that plans with predictions, and
// the states and their echo, to compare with. It has a connection of its own.
type planner struct {
	vehicle string
	nc      *nats.Conn
	inbox   chan *nats.Msg
	stop    chan struct{}
	done    chan struct{}
	served  chan struct{} // closed at the first status of the estimator

	mu     sync.Mutex
	judge  *judge.Judge
	change *change     // nil = the robot does not change
	status wire.Status // the last one
}

// backlog is how many messages may wait: ten seconds of a flight.
const backlog = 4096

// listen starts a planner for a vehicle of K states.
func listen(s *server.Server, sc *scene, times []float64) (*planner, error) {
	nc, err := connect(s, "planner")
	if err != nil {
		return nil, err
	}
	p := &planner{
		vehicle: sc.vehicle, nc: nc, inbox: make(chan *nats.Msg, backlog),
		stop: make(chan struct{}), done: make(chan struct{}), served: make(chan struct{}),
		judge:  judge.New(judge.Config{K: len(sc.robot.Plant.States), Period: sc.period(), Horizon: times, Echo: true}),
		change: newChange(sc, times),
	}
	// One channel for all: then the order is that of arrival.
	for _, subject := range []string{wire.AllPredictions, wire.AllStates, wire.AllStatuses, echoSubject(sc.vehicle)} {
		if err == nil {
			_, err = nc.ChanSubscribe(subject, p.inbox)
		}
	}
	if err == nil {
		err = nc.FlushTimeout(patience)
	}
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("the planner cannot subscribe: %w", err)
	}
	go p.receive(len(sc.robot.Plant.States), len(sc.robot.Plant.Inputs))
	return p, nil
}

func (p *planner) close() {
	close(p.stop)
	<-p.done
	p.nc.Close()
}

// receive takes messages until stop.
func (p *planner) receive(K, P int) {
	defer close(p.done)
	var s wire.State
	var predicted wire.Prediction
	for {
		select {
		case <-p.stop:
			return
		case m := <-p.inbox:
			now := time.Now().UnixNano()
			p.mu.Lock()
			p.take(m, now, K, P, &s, &predicted)
			p.mu.Unlock()
		}
	}
}

// take takes one message that arrived at unix, ns, with memory for decoding.
func (p *planner) take(m *nats.Msg, unix int64, K, P int, s *wire.State, predicted *wire.Prediction) {
	switch m.Subject {
	case wire.StateSubject(p.vehicle):
		if s.Decode(m.Data, K, P) == nil { // nobody answers a bad one
			p.judge.State(s, unix)
			p.change.state(s, p.judge)
		}
	case echoSubject(p.vehicle):
		if s.Decode(m.Data, K, P) == nil {
			p.judge.Echo(s.Seq, unix)
		}
	case wire.PredictSubject(p.vehicle):
		if predicted.Decode(m.Data) != nil {
			p.judge.Unreadable()
			return
		}
		p.judge.Prediction(predicted, unix)
	case wire.StatusSubject(p.vehicle):
		if p.status.Decode(m.Data) == nil {
			p.change.learned(&p.status)
			p.noteServed()
		}
	}
}

func (p *planner) noteServed() {
	select {
	case <-p.served:
	default:
		close(p.served)
	}
}

// awaitEstimator returns when the estimator has sent its first status.
func (p *planner) awaitEstimator(ctx context.Context) error {
	select {
	case <-p.served:
		return nil
	case <-time.After(patience):
		return errors.New("the estimator does not start")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settle waits for the last answers.
func (p *planner) settle() {
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		n := p.judge.Waiting()
		p.mu.Unlock()
		if n == 0 {
			return
		}
	}
}

// forWantOfTime are the reasons for which a busy computer leaves states unanswered.
var forWantOfTime = []wire.Reason{wire.Replaced, wire.Old, wire.Expired, wire.Flooded, wire.TooOld}

// result returns the counts so far; see judge.Result.
func (p *planner) result(final bool) judge.Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.judge.Result(final)
	for _, reported := range p.status.Reasons {
		if slices.ContainsFunc(forWantOfTime, func(w wire.Reason) bool { return w.String() == reported.Reason }) {
			r.Explained += int(reported.Count)
		}
	}
	return r
}

// reasons returns why the estimator did not answer some states, as its status reports;
// empty where it answered all.
func (p *planner) reasons() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parts []string
	for _, r := range p.status.Reasons {
		parts = append(parts, fmt.Sprintf("%d %s", r.Count, r.Reason))
	}
	return strings.Join(parts, ", ")
}

// startEcho returns every state of a vehicle at once, on a connection of its own. Its
// delay is that of the computer and the server alone: the reference for the
// estimator's.
func startEcho(s *server.Server, vehicle string) (*nats.Conn, error) {
	nc, err := connect(s, "echo")
	if err != nil {
		return nil, err
	}
	_, err = nc.Subscribe(wire.StateSubject(vehicle), func(m *nats.Msg) { _ = nc.Publish(echoSubject(vehicle), m.Data) })
	if err == nil {
		err = nc.FlushTimeout(patience)
	}
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("the echo cannot subscribe: %w", err)
	}
	return nc, nil
}

// echoSubject is where the states come back.
func echoSubject(vehicle string) string { return "demo.echo." + vehicle }
