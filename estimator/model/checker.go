package model

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// checker keeps the first error.
type checker struct{ err error }

func (c *checker) that(ok bool, field, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = &FieldError{field, fmt.Sprintf(format, args...)}
	}
}

// each checks every number; text describes one that is not ok, and args follow it.
func (c *checker) each(field string, v []float64, ok func(v float64) bool, text string, args ...any) {
	for _, x := range v {
		if !ok(x) {
			c.that(false, field, text, append([]any{x}, args...)...)
		}
	}
}

// right checks that there is no error.
func (c *checker) right(field string, err error) { c.that(err == nil, field, "%v", err) }

func (c *checker) finite(field string, v []float64) {
	if allFinite(v) {
		return
	}
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			c.that(false, field, "element %d is %v", i, x)
		}
	}
}

// allFinite sums 0·x, which is 0 for finite x only. Four independent sums shorten the
// check of a model at start.
func allFinite(v []float64) bool {
	var a, b, c, d float64
	for len(v) >= 4 {
		a, b, c, d = a+0*v[0], b+0*v[1], c+0*v[2], d+0*v[3]
		v = v[4:]
	}
	for _, x := range v {
		a += 0 * x
	}
	return a+b+c+d == 0
}

// length checks the number of elements, and that they are finite.
func (c *checker) length(field string, v []float64, n int) {
	c.that(len(v) == n, field, "%d numbers, expected %d", len(v), n)
	c.finite(field, v)
}

func (c *checker) rows(field string, v [][]float64, k, n int) {
	c.that(len(v) == k, field, "%d channels, expected %d", len(v), k)
	for i := range v {
		c.length(fmt.Sprintf("%s[%d]", field, i), v[i], n)
	}
}

func (c *checker) positive(field string, v float64) {
	c.that(v > 0 && !math.IsInf(v, 0), field, "%v must be positive and finite", v)
}

func (c *checker) allPositive(field string, v []float64) {
	for _, x := range v {
		c.positive(field, x)
	}
}

// net checks that layers fit together, from width in to width out (-1: any).
func (c *checker) net(field string, n *mlp.Net, in, out int) {
	c.that(len(n.Layers) >= 1 && len(n.Layers) <= 32, field, "%d layers, expected 1…32", len(n.Layers))
	for i, l := range n.Layers {
		path := fmt.Sprintf("%s.layers[%d]", field, i)
		c.that(l.In == in, path+".in", "%d, expected %d", l.In, in)
		c.that(l.Out >= 1 && l.Out <= maxWidth, path+".out", "%d is outside 1…%d", l.Out, maxWidth)
		c.that(l.Act <= mlp.Tanh, path+".activation", "%d is unknown", l.Act)
		c.length(path+".w", l.W, l.In*l.Out)
		c.length(path+".b", l.B, l.Out)
		in = l.Out
	}
	c.that(out < 0 || in == out, field, "%d outputs, expected %d", in, out)
}

// lift checks a lifting of k states, which may have dry friction.
func (c *checker) lift(path string, l *channel.Lift, k int, dry bool) {
	n, most, last := l.Dim(), 2*k, channel.Cosine
	if dry {
		most, last = 3*k, channel.Friction
	}
	c.that(n <= most, path+".of", "%d coordinates of %d states", n, k)
	c.that(len(l.Kind) == n, path+".kind", "%d entries, expected %d", len(l.Kind), n)
	c.length(path+".omega", l.Omega, n)
	c.length(path+".mean", l.Mean, n)
	c.length(path+".std", l.Std, n)
	c.allPositive(path+".std", l.Std)
	for i, of := range l.Of {
		c.that(of >= 0 && of < k, path+".of", "state %d of %d", of, k)
		c.that(i >= len(l.Kind) || l.Kind[i] <= last, path+".kind", "unknown reading")
	}
}
