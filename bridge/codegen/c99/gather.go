package c99

import "github.com/dgm-robotics/dgm/estimator/program"

// gather takes rows of other registers, and of their tangents.
func (s *scope) gather(o *program.Gather) {
	var operands []*value
	for _, f := range o.From {
		operands = append(operands, s.get(f.Reg))
	}
	y := s.set(o.Out, operands...)
	for at := 0; at < len(o.From); {
		n, stride := run(o.From[at:])
		x := operands[at]
		s.rows(of(y).from(at), of(x).from(o.From[at].Row), n, stride)
		switch {
		case x.active:
			s.rows(tangent(y).from(at), tangent(x).from(o.From[at].Row), n, stride)
		case y.active:
			s.call("zero", 0, tangent(y).from(at), n*s.columns)
		}
		at += n
	}
}

// run returns how many of the first rows are of one register, equal numbers of rows apart.
func run(from []program.Row) (n, stride int) {
	for n = 1; n < len(from) && from[n].Reg == from[0].Reg; n++ {
		if d := from[n].Row - from[n-1].Row; n == 1 && d >= 0 {
			stride = d
		} else if d != stride || n == 1 {
			break
		}
	}
	if n == 1 {
		stride = 1
	}
	return n, stride
}

func (s *scope) rows(y, x place, n, stride int) {
	if stride == 1 {
		s.call("copy", 0, y, x, n*s.columns)
		return
	}
	s.call("rows", s.columns, y, x, n, stride)
}
