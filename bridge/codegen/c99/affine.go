package c99

import "github.com/dgm-robotics/dgm/estimator/program"

// affine evaluates y = Σ_i M_i x_i + c, and ẏ = Σ_i M_i ẋ_i. In a region parts of one column are summed ahead of the
// loop.
func (s *scope) affine(o *program.Affine) {
	var blocks, single []program.Part
	for _, part := range o.Parts {
		if s.first != "" && s.p.Shape(o.Out).Cols > 1 && s.p.Shape(part.X).Cols == 1 {
			single = append(single, part)
		} else {
			blocks = append(blocks, part)
		}
	}
	var start *value // c and the single parts: one column
	if len(single) > 0 {
		s.before(func() {
			outer := &scope{builder: s.builder, p: s.p, columns: 1, known: map[program.Reg]*value{}, outside: s.column}
			start = outer.fresh(s.p.Rows(o.Out), 1)
			outer.sum(start, nil, o.C, single)
		})
	}
	var operands []*value
	if start != nil {
		operands = append(operands, start)
	}
	for _, part := range blocks {
		operands = append(operands, s.get(part.X))
	}
	y := s.set(o.Out, operands...)
	s.sum(y, start, o.C, blocks)
}

// sum sets y, and its tangent, to start, or where it is nil to c, and the products of the parts.
func (s *scope) sum(y, start *value, c []float64, parts []program.Part) {
	rest := parts
	switch {
	case start != nil:
		s.call("spread", s.columns, of(y), of(start), y.rows)
	case !all(c, 0):
		s.call("spread", s.columns, of(y), s.reals(c), y.rows)
	default:
		rest = s.begin(y, parts, of)
	}
	for i := range rest {
		s.multiply(of(y), of(s.get(rest[i].X)), rest[i].M)
	}
	var varying []program.Part
	for i := range parts {
		if s.get(parts[i].X).active {
			varying = append(varying, parts[i])
		}
	}
	y.active = y.active || len(varying) > 0
	if !y.active {
		return
	}
	if start != nil && start.active {
		s.call("spread", s.columns, tangent(y), tangent(start), y.rows)
	} else {
		varying = s.begin(y, varying, tangent)
	}
	for i := range varying {
		s.multiply(tangent(y), tangent(s.get(varying[i].X)), varying[i].M)
	}
}

// begin sets y to the first part where that is a multiple of its operand, else to zero, and returns the parts that remain.
func (s *scope) begin(y *value, parts []program.Part, at func(v *value) place) []program.Part {
	if len(parts) > 0 {
		if f := formOf(parts[0].M, y.rows, s.p.Rows(parts[0].X)); f.kind == scaled {
			s.call("scale", 0, at(y), at(s.get(parts[0].X)), s.number(f.scale), y.size())
			return parts[1:]
		}
	}
	s.clear(at(y))
	return parts
}

// multiply adds M x to y, in the form of M that takes the least memory.
func (s *scope) multiply(y, x place, m []float64) {
	f := formOf(m, y.rows, x.rows)
	vector := ""
	if s.columns == 1 {
		vector = "_vector"
	}
	switch f.kind {
	case none:
	case scaled:
		s.call("add", 0, y, x, s.number(f.scale), y.rows*s.columns)
	case sparse:
		s.call("sparse", s.columns, y, x, s.places(f.index), s.reals(f.numbers), len(f.index)/2)
	case picked:
		s.call("picked", s.columns, y, x, s.places(f.index), s.number(f.scale), len(f.index)/2)
	case ranges:
		s.call("ranges"+vector, s.columns, y, s.reals(f.numbers), x, s.places(f.index), y.rows)
	case compensated:
		s.call("compensated", s.columns, y, s.reals(f.numbers), x, x.rows)
	default:
		s.call("dense"+vector, s.columns, y, s.reals(f.numbers), x, y.rows, x.rows)
	}
}

// row adds the product of n numbers from m on with rows from v on to the block y; two sums take turns, so that an addition
// need not wait for the one before.
const row = `
        dgm_real s[WIDTH] = {0}, t[WIDTH] = {0};
        for (; n > 1; n -= 2, m += 2, v += 2 * WIDTH) {
            DGM_UNROLL
            for (int j = 0; j < WIDTH; j++)
                s[j] += m[0] * v[j];
            DGM_UNROLL
            for (int j = 0; j < WIDTH; j++)
                t[j] += m[1] * v[WIDTH + j];
        }
        for (; n > 0; n--, m++, v += WIDTH) {
            DGM_UNROLL
            for (int j = 0; j < WIDTH; j++)
                s[j] += m[0] * v[j];
        }
        DGM_UNROLL
        for (int j = 0; j < WIDTH; j++)
            *y++ += s[j] + t[j];
    }
}
`

// dot is row of one column, whose sum is made of four.
const dot = `
        dgm_real s[4] = {0};
        for (; n > 3; n -= 4, m += 4, v += 4) {
            DGM_UNROLL
            for (int j = 0; j < 4; j++)
                s[j] += m[j] * v[j];
        }
        for (; n > 0; n--)
            s[0] += *m++ * *v++;
        *y++ += (s[0] + s[1]) + (s[2] + s[3]);
    }
}
`

var _ = define(map[string]string{
	"dense_vector": `
static void dense_vector(dgm_real *y, const dgm_real *m, const dgm_real *x, int rows, int cols)
{
    for (int r = 0; r < rows; r++) {
        const dgm_real *v = x;
        int n = cols;` + dot,
	"ranges_vector": `
static void ranges_vector(dgm_real *y, const dgm_real *m, const dgm_real *x, const unsigned short *range, int rows)
{
    for (int r = 0; r < rows; r++) {
        const dgm_real *v = x + range[2 * r];
        int n = range[2 * r + 1];` + dot,
	// y += m x
	"dense": `
static void dense@(dgm_real *y, const dgm_real *m, const dgm_real *x, int rows, int cols)
{
    for (int r = 0; r < rows; r++) {
        const dgm_real *v = x;
        int n = cols;` + row,
	// y += m x, where row r of m has numbers in range[2r + 1] columns from range[2r] on
	"ranges": `
static void ranges@(dgm_real *y, const dgm_real *m, const dgm_real *x, const unsigned short *range, int rows)
{
    for (int r = 0; r < rows; r++) {
        const dgm_real *v = x + range[2 * r] * WIDTH;
        int n = range[2 * r + 1];` + row,
})
