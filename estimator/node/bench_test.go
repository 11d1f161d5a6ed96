package node

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// From a state message of a quadrotor to its prediction, up to the client library.
func BenchmarkAnswer(b *testing.B) { benchmark(b, 0, history.Spec{}) }

// The same at a fixed rate, where every tick has a new state.
func BenchmarkTick(b *testing.B) { benchmark(b, 100, history.Spec{}) }

// The same with the history of a stream at 100 Hz.
func BenchmarkAnswerWithHistory(b *testing.B) { benchmark(b, 0, widening) }
func BenchmarkTickWithHistory(b *testing.B)   { benchmark(b, 100, widening) }

// widening is a history of rows that become wider.
var widening = history.Spec{Edges: []float64{0.01, 0.02, 0.03, 0.04, 0.05, 0.1, 0.2, 0.4}}

func benchmark(b *testing.B, rate float64, spec history.Spec) {
	nc, err := Link{URL: "nats://127.0.0.1:1"}.Connect()
	if err != nil {
		b.Fatal(err)
	}
	nc.Close()
	steady := int64(0)
	m := artificial.New(artificial.Quadrotor, 1)
	m.History = spec
	n, err := New(Config{Vehicle: "v1", Rate: rate, RobotClock: true, Clock: func() (unix, now int64) { return steady, steady }}, m)
	if err != nil {
		b.Fatal(err)
	}
	s := wire.State{X: make([]float64, 12), U: make([]float64, 4), P0: make([]float64, 144)}
	for i := range 12 {
		s.P0[13*i] = 1e-3
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		s.Seq++
		s.T += 10 * ms
		steady += 10 * ms
		buf = s.Append(buf[:0])
		n.intake.Receive(buf, 0)
		if rate > 0 {
			n.worker.tick(nc, s.Seq, steady)
		} else {
			n.worker.answer(nc, n.intake.Mailbox.Get())
		}
	}
}
