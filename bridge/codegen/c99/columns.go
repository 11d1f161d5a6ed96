package c99

import "github.com/dgm-robotics/dgm/estimator/program"

// sumColumns evaluates y(:,j) = Σ_i x(:,i) m_ij of whole registers, and the same of ẋ.
func (b *builder) sumColumns(o *program.Columns, y, x *value) {
	y.active = x.active
	var at []int
	var w []float64
	for _, e := range o.Entries {
		at, w = append(at, e.To, e.From), append(w, e.W)
	}
	numbers := "0"
	if !all(w, 1) {
		numbers = b.reals(w)
	}
	add := func(y, x place) {
		b.clear(y)
		if len(w) > 0 && y.rows > 0 {
			b.call("sum_columns", 0, y, y.width, x, x.width, y.rows, b.places(at), numbers, len(w))
		}
	}
	add(of(y), of(x))
	if y.active {
		add(tangent(y), tangent(x))
	}
}

var _ = define(map[string]string{
	// y(:,j) += m x(:,i) of n numbers of m, each with its j and i; m is null where all are 1
	"sum_columns": `
static void sum_columns(dgm_real *y, int to, const dgm_real *x, int from, int rows, const unsigned short *at, const dgm_real *m, int n)
{
    for (int i = 0; i < n; i++) {
        const dgm_real w = m ? m[i] : 1;
        for (int r = 0; r < rows; r++)
            y[r * to + at[2 * i]] += w * x[r * from + at[2 * i + 1]];
    }
}
`,
})
