package objective

import "testing"

// BenchmarkEvaluate is one step's objective: its data term, with matching, and with the
// gradient; of 600 rows with random features, of the 101 rows of one of the paper's
// trajectories with the exact kernel.
func BenchmarkEvaluate(b *testing.B) {
	for _, kernel := range []struct {
		name  string
		exact bool
		rows  int
	}{{"features", false, 600}, {"exact", true, 101}} {
		spec, p, batch := randomOf(5, kernel.exact, kernel.rows, 0)
		o := New(spec, p, batch.Obs.N, 0)
		match := batch.Match
		for _, c := range []struct {
			name  string
			match float64
			grad  *Params
		}{{"data", 0, nil}, {"match", match, nil}, {"gradient", match, p.Like()}} {
			b.Run(kernel.name+"/"+c.name, func(b *testing.B) {
				batch.Match = c.match
				for b.Loop() {
					if _, ok := o.Evaluate(c.grad, p, batch); !ok {
						b.Fatal("not finite")
					}
				}
			})
		}
	}
}
