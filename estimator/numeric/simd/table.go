//go:build amd64 || arm64

package simd

// table holds the constants of a kernel, each as often as the widest vector has
// places.
type table [12][16]float32

var (
	sincosTable = spread(sin0, sin1, sin2, sin3, sin4, cos0, cos1, cos2, cos3, cos4, cos5)
	expTable    = spread(exp0, exp1, exp2, exp3, exp4, exp5, exp6, log2e, ln2High, ln2Low, expMost, -expMost)
)

func spread(v ...float32) (t table) {
	for i, c := range v {
		for j := range t[i] {
			t[i][j] = c
		}
	}
	return t
}
