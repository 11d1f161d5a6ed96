package datacheck

import "testing"

func BenchmarkCheck(b *testing.B) {
	l := flight(b, "B2_circle_fast_rep3", 5, 35.5)
	b.ResetTimer()
	for b.Loop() {
		Check(l, Options{Horizon: 0.5})
	}
}
