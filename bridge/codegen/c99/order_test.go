package c99

import (
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// What is made in a region and read by a serial operation precedes it; what is smaller than its operand follows it at once.
func TestGroups(t *testing.T) {
	p := &program.Program{}
	x := p.Input("x", 2, 1)
	wide := func() program.Reg {
		return p.SinCos(p.Affine(50, nil, program.Part{X: p.Weigh(x, 8, make([]float64, 2), nil), M: make([]float64, 100)}))
	}
	row := func(x program.Reg) program.Reg {
		return p.Affine(1, nil, program.Part{X: x, M: make([]float64, p.Rows(x))})
	}
	a, b := wide(), wide()
	first, second := row(a), row(b)
	last := p.Columns(first, 1, []program.Entry{{From: 7, W: 1}})
	p.Output("both", p.Products(1, second, last, []program.Term{{S: 1}}))
	groups := groupsOf(p)
	at := map[program.Reg]int{}
	n := 0
	for _, g := range groups {
		for _, i := range g.ops {
			for _, r := range program.Operands(p.Ops[i]) {
				if _, ok := at[r]; !ok && r != x {
					t.Errorf("operation %d reads register %d before it is set", i, r)
				}
			}
			for _, r := range program.Results(p.Ops[i]) {
				at[r] = n
			}
			n++
		}
	}
	if n != len(p.Ops) || at[first] != at[a]+1 || at[second] != at[b]+1 {
		t.Errorf("%d operations of %d, in the order %v", n, len(p.Ops), groups)
	}
	stored := slices.IndexFunc(groups, func(g group) bool { return g.kept[first] })
	if stored < 0 || groups[stored].kept[a] || groups[stored].stage != 0 {
		t.Errorf("what is stored: %v", groups)
	}
}
