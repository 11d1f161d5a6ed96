package chaos

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Latency is the time, s, from sending a state to receiving its prediction, beside the time of an echo: a message that is sent
// behind the state, passes the same connections, and is answered without work.
type Latency struct {
	Pairs      int     `json:"pairs"`      // states whose prediction and echo came
	Unanswered int     `json:"unanswered"` // states whose echo came while they were fresh, and no prediction
	EchoP50    float64 `json:"echo_p50"`
	EchoP99    float64 `json:"echo_p99"`
	PredictP50 float64 `json:"predict_p50"`
	PredictP99 float64 `json:"predict_p99"`
	RatioP50   float64 `json:"ratio_p50"` // of prediction to echo
	RatioP99   float64 `json:"ratio_p99"`
}

// latencies are those of all robots.
type latencies struct{ echo, predict []float64 }

func (l *latencies) report(unanswered int) Latency {
	slices.Sort(l.echo)
	slices.Sort(l.predict)
	r := Latency{Pairs: len(l.echo), Unanswered: unanswered}
	if r.Pairs == 0 {
		return r
	}
	at := func(v []float64, q float64) float64 { return v[int(q*float64(len(v)-1))] }
	r.EchoP50, r.EchoP99, r.PredictP50, r.PredictP99 = at(l.echo, 0.5), at(l.echo, 0.99), at(l.predict, 0.5), at(l.predict, 0.99)
	r.RatioP50, r.RatioP99 = r.PredictP50/r.EchoP50, r.PredictP99/r.EchoP99
	return r
}

// Lines that a robot prints.
const (
	logLine        = "log %s"
	latencyLine    = "latency %g %g"
	unansweredLine = "unanswered"
)

// sensor sends the states of a robot, and echoes, and prints what came back.
type sensor struct {
	mu   sync.Mutex
	sent map[uint64]*sending // by sequence number
	live bool                // a prediction has come
}

type sending struct {
	at            time.Time
	echo, predict float64 // s; NaN = not yet
}

const (
	patience = 5 * time.Second // with which a prediction is waited for
	fresh    = 0.5             // s, age of a state from which the estimator must predict: half the horizon of its model
)

// run sends until the context ends. server is the connection of the estimator, which answers echoes, too.
func (s *sensor) run(ctx context.Context, vehicle string, own, server *nats.Conn) error {
	there, back := "chaos.echo."+vehicle, "chaos.echoed."+vehicle
	s.sent = map[uint64]*sending{}
	var failed error
	listen := func(nc *nats.Conn, subject string, receive nats.MsgHandler) {
		if sub, err := nc.Subscribe(subject, receive); err != nil {
			failed = err
		} else {
			context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() }) // the connection ends, too
		}
	}
	listen(server, there, func(m *nats.Msg) { _ = server.Publish(back, m.Data) })
	listen(own, back, func(m *nats.Msg) {
		var seq uint64
		if _, err := fmt.Sscan(string(m.Data), &seq); err == nil {
			s.came(seq, func(p *sending, after float64) { p.echo = after })
		}
	})
	var p wire.Prediction
	listen(own, wire.PredictSubject(vehicle), func(m *nats.Msg) {
		if p.Decode(m.Data) == nil {
			s.came(p.Seq, func(p *sending, after float64) { s.live, p.predict = true, after })
		}
	})
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for seq := uint64(1); ctx.Err() == nil && failed == nil; seq++ {
		now := time.Now()
		s.expect(seq, now)
		state := wire.State{Seq: seq, T: now.UnixNano(), X: []float64{0.1, 0.1}, U: []float64{0}}
		_ = own.Publish(wire.StateSubject(vehicle), state.Append(nil)) // the next one follows
		_ = own.Publish(there, fmt.Append(nil, seq))
		<-every.C
	}
	return failed
}

// expect notes what is sent, and gives up what was sent long ago.
func (s *sensor) expect(seq uint64, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent[seq] = &sending{at: now, echo: math.NaN(), predict: math.NaN()}
	for old, p := range s.sent {
		if now.Sub(p.at) < patience {
			continue
		}
		if s.live && p.echo < fresh {
			fmt.Println(unansweredLine)
		}
		delete(s.sent, old)
	}
}

// came notes that a prediction or an echo came.
func (s *sensor) came(seq uint64, note func(p *sending, after float64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.sent[seq]
	if p == nil {
		return
	}
	if note(p, time.Since(p.at).Seconds()); p.echo >= 0 && p.predict >= 0 {
		fmt.Printf(latencyLine+"\n", p.echo, p.predict)
		delete(s.sent, seq)
	}
}
