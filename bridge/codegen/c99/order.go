package c99

import (
	"cmp"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// group is operations that are evaluated together, in this order.
type group struct {
	stage   int
	columns int // of a region; 0: one after the other, on one column or whole registers
	ops     []int
	kept    map[program.Reg]bool // results of a region that are read outside
}

// groupsOf divides a program into few regions: serial operations and regions take turns, and each operation is as early as what
// it reads allows.
func groupsOf(p *program.Program) []group {
	stage, columns, producer := make([]int, len(p.Ops)), make([]int, len(p.Ops)), map[program.Reg]int{}
	var groups []group
	for i, o := range p.Ops {
		columns[i] = regionOf(p, o)
		for _, r := range program.Operands(o) {
			j, ok := producer[r]
			if !ok {
				continue
			}
			at := stage[j]
			if columns[i] == 0 && columns[j] > 0 {
				at++
			}
			stage[i] = max(stage[i], at)
		}
		for _, r := range program.Results(o) {
			producer[r] = i
		}
		at := slices.IndexFunc(groups, func(g group) bool { return g.stage == stage[i] && g.columns == columns[i] })
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{stage: stage[i], columns: columns[i], kept: map[program.Reg]bool{}})
		}
		groups[at].ops = append(groups[at].ops, i)
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(a.columns, b.columns)) })
	for i, o := range p.Ops {
		for _, r := range program.Operands(o) {
			if j, ok := producer[r]; ok && (stage[j] != stage[i] || columns[j] != columns[i]) {
				for g := range groups {
					if groups[g].stage == stage[j] && groups[g].columns == columns[j] {
						groups[g].kept[r] = true
					}
				}
			}
		}
	}
	for g := range groups {
		for _, out := range p.Outputs {
			groups[g].kept[out.Reg] = true
		}
		if groups[g].columns > 0 {
			groups[g].ops = ordered(p, groups[g].ops)
		}
	}
	return groups
}

// regionOf returns the number of columns of the region of an operation; 0: it is serial.
func regionOf(p *program.Program, o program.Operation) int {
	cols := p.Shape(program.Results(o)[0]).Cols
	repeat, _ := o.(*program.Repeat)
	if _, mixes := o.(*program.Columns); mixes || cols == 1 || repeat != nil && repeat.All {
		return 0
	}
	return cols
}

// ordered returns the operations of a region in an order that keeps little alive: what an operation reads directly before it,
// and after it at once what reads it and is not larger.
func ordered(p *program.Program, ops []int) (out []int) {
	producer, users := map[program.Reg]int{}, map[program.Reg][]int{}
	for _, i := range ops {
		for _, r := range program.Results(p.Ops[i]) {
			producer[r] = i
		}
		for _, r := range program.Operands(p.Ops[i]) {
			users[r] = append(users[r], i)
		}
	}
	done := map[int]bool{}
	ready := func(i int) bool {
		return !slices.ContainsFunc(program.Operands(p.Ops[i]), func(r program.Reg) bool {
			j, ok := producer[r]
			return ok && !done[j]
		})
	}
	rows := func(i int) (n int) {
		for _, r := range program.Results(p.Ops[i]) {
			n += p.Rows(r)
		}
		return n
	}
	var add func(i int)
	add = func(i int) {
		if done[i] {
			return
		}
		for _, r := range program.Operands(p.Ops[i]) {
			if j, ok := producer[r]; ok {
				add(j)
			}
		}
		if done[i] { // by one of its operands
			return
		}
		done[i] = true
		out = append(out, i)
		for _, r := range program.Results(p.Ops[i]) {
			for _, u := range users[r] {
				if !done[u] && rows(u) <= rows(i) && ready(u) {
					add(u)
				}
			}
		}
	}
	for _, i := range ops {
		add(i)
	}
	return out
}
