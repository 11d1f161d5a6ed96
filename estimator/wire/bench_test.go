package wire_test

import (
	"fmt"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// The messages of a quadrotor: 12 states, 4 inputs, plans and predictions of 20
// and 100 points.
func BenchmarkMessages(b *testing.B) {
	type message interface{ Append([]byte) []byte }
	var state wire.State
	for _, points := range []int{20, 100} {
		s := wire.State{
			Seq: 70000, T: 1772682400399326324, X: make([]float64, 12), P0: make([]float64, 144),
			U: make([]float64, 4), Plan: make([]float64, 4*points), Layout: "ba317c1a93e33836",
		}
		p := large(points)
		for _, c := range []struct {
			name   string
			m      message
			decode func([]byte) error
		}{
			{"state", &s, func(b []byte) error { return state.Decode(b, 12, 4) }},
			{"prediction", &p, new(wire.Prediction).Decode},
			{"status", &fullStatus, new(wire.Status).Decode},
		} {
			if c.name == "status" && points != 20 {
				continue
			}
			buf := c.m.Append(nil)
			b.Run(fmt.Sprintf("%s/%d/append", c.name, points), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					buf = c.m.Append(buf[:0])
				}
			})
			b.Run(fmt.Sprintf("%s/%d/decode", c.name, points), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := c.decode(buf); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
