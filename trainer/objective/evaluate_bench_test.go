package objective

import "testing"

// BenchmarkEvaluate is one step's objective: its data term, with matching, and with the
// gradient.
func BenchmarkEvaluate(b *testing.B) {
	spec, p, batch := randomOf(5, false, 600, 0)
	o := New(spec, p, batch.Obs.N, 0)
	match := batch.Match
	for _, c := range []struct {
		name  string
		match float64
		grad  *Params
	}{{"data", 0, nil}, {"match", match, nil}, {"gradient", match, p.Like()}} {
		b.Run(c.name, func(b *testing.B) {
			batch.Match = c.match
			for b.Loop() {
				if _, ok := o.Evaluate(c.grad, p, batch); !ok {
					b.Fatal("not finite")
				}
			}
		})
	}
}
