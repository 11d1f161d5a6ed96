package node

import (
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// From a state message of a quadrotor to its prediction, up to the client library.
func BenchmarkAnswer(b *testing.B) { benchmark(b, 0) }

// The same at a fixed rate, where every tick has a new state.
func BenchmarkTick(b *testing.B) { benchmark(b, 100) }

func benchmark(b *testing.B, rate float64) {
	nc, err := Link{URL: "nats://127.0.0.1:1"}.Connect()
	if err != nil {
		b.Fatal(err)
	}
	nc.Close()
	const now = 5e18 / 4
	n, err := New(Config{Vehicle: "v1", Rate: rate, Clock: func() (unix, steady int64) { return now, 0 }}, artificial.New(artificial.Quadrotor, 1))
	if err != nil {
		b.Fatal(err)
	}
	s := wire.State{T: now, X: make([]float64, 12), U: make([]float64, 4), P0: make([]float64, 144)}
	for i := range 12 {
		s.P0[13*i] = 1e-3
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		s.Seq++
		s.T += 1000
		buf = s.Append(buf[:0])
		n.intake.Receive(buf, 0)
		if rate > 0 {
			n.worker.tick(nc, s.Seq, 0)
		} else {
			n.worker.answer(nc, n.intake.Mailbox.Get())
		}
	}
}
