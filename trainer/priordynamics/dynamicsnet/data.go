package dynamicsnet

import "github.com/dgm-robotics/dgm/trainer/priordynamics/paths"

// batch is some windows, node by node.
type batch struct {
	n  int
	x0 []float64 // B×K
	y  []float64 // nodes×B×K
	u  []float64 // nodes×B×P
}

func newBatch(w *paths.Paths, n int) *batch {
	return &batch{n: n, x0: make([]float64, n*w.K), y: make([]float64, w.Nodes*n*w.K), u: make([]float64, w.Nodes*n*w.P)}
}

// take copies the windows of the given numbers.
func (b *batch) take(w *paths.Paths, numbers []int) {
	for i, at := range numbers {
		copy(b.x0[i*w.K:], w.X0[at*w.K:(at+1)*w.K])
		for n := range w.Nodes {
			to, from := n*b.n+i, at*w.Nodes+n
			copy(b.y[to*w.K:], w.Y[from*w.K:(from+1)*w.K])
			copy(b.u[to*w.P:], w.U[from*w.P:(from+1)*w.P])
		}
	}
}
