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

// groupsOf divides a program into few regions: serial operations and regions take turns. Serial operations are as early as
// what they read allows, those of regions as late as what reads them: what waits for others would be stored whole.
func groupsOf(p *program.Program) []group {
	stage, columns := stagesOf(p)
	var groups []group
	home, producer := make([]int, len(p.Ops)), map[program.Reg]int{}
	for i, o := range p.Ops {
		home[i] = slices.IndexFunc(groups, func(g group) bool { return g.stage == stage[i] && g.columns == columns[i] })
		if home[i] < 0 {
			home[i] = len(groups)
			groups = append(groups, group{stage: stage[i], columns: columns[i], kept: map[program.Reg]bool{}})
		}
		groups[home[i]].ops = append(groups[home[i]].ops, i)
		for _, r := range program.Operands(o) {
			if j, ok := producer[r]; ok && home[j] != home[i] {
				groups[home[j]].kept[r] = true
			}
		}
		for _, r := range program.Results(o) {
			producer[r] = i
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
	slices.SortFunc(groups, func(a, b group) int { return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(a.columns, b.columns)) })
	return groups
}

// stagesOf returns the stage of every operation, and the columns of its region. In a stage serial operations precede regions.
func stagesOf(p *program.Program) (stage, columns []int) {
	stage, columns = make([]int, len(p.Ops)), make([]int, len(p.Ops))
	producer := map[program.Reg]int{}
	last := 0
	for i, o := range p.Ops {
		columns[i] = regionOf(p, o)
		for _, r := range program.Operands(o) {
			if j, ok := producer[r]; ok && columns[i] == 0 && columns[j] > 0 {
				stage[i] = max(stage[i], stage[j]+1)
			} else if ok {
				stage[i] = max(stage[i], stage[j])
			}
		}
		for _, r := range program.Results(o) {
			producer[r] = i
		}
		last = max(last, stage[i])
	}
	late := make([]int, len(p.Ops))
	for i := range late {
		late[i] = last
	}
	for i := len(p.Ops) - 1; i >= 0; i-- {
		if columns[i] > 0 {
			stage[i] = late[i]
		}
		for _, r := range program.Operands(p.Ops[i]) {
			if j, ok := producer[r]; ok && columns[i] == 0 {
				late[j] = min(late[j], stage[i]-1)
			} else if ok {
				late[j] = min(late[j], stage[i])
			}
		}
	}
	pullEarly(p, stage, columns, producer)
	return stage, columns
}

// pullEarly moves operations of regions to the stage of what they read, where that is larger than what they make of it.
func pullEarly(p *program.Program, stage, columns []int, producer map[program.Reg]int) {
	for i, o := range p.Ops {
		early, stored := 0, 0
		seen := map[program.Reg]bool{}
		for _, r := range program.Operands(o) {
			j, ok := producer[r]
			if !ok || seen[r] {
				continue
			}
			seen[r] = true
			early = max(early, stage[j])
			if columns[j] > 0 && stage[j] < stage[i] {
				stored += p.Rows(r)
			}
		}
		if columns[i] > 0 && early < stage[i] && stored >= rowsOf(p, o) {
			stage[i] = early
		}
	}
}

// rowsOf returns the rows of the results of an operation.
func rowsOf(p *program.Program, o program.Operation) (n int) {
	for _, r := range program.Results(o) {
		n += p.Rows(r)
	}
	return n
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

// ordered returns the operations of a region in an order that keeps little alive: what an operation reads directly before it, and
// after it at once what reads it and is smaller, or as large and waits for nothing else.
func ordered(p *program.Program, ops []int) (out []int) {
	producer, users := linksOf(p, ops)
	done := map[int]bool{}
	ready := func(i int) bool {
		return !slices.ContainsFunc(program.Operands(p.Ops[i]), func(r program.Reg) bool {
			j, ok := producer[r]
			return ok && !done[j]
		})
	}
	rows := func(i int) int { return rowsOf(p, p.Ops[i]) }
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
				if !done[u] && (rows(u) < rows(i) || rows(u) == rows(i) && ready(u)) {
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

// linksOf returns which operation makes a register, and which read it.
func linksOf(p *program.Program, ops []int) (producer map[program.Reg]int, users map[program.Reg][]int) {
	producer, users = map[program.Reg]int{}, map[program.Reg][]int{}
	for _, i := range ops {
		for _, r := range program.Results(p.Ops[i]) {
			producer[r] = i
		}
		for _, r := range program.Operands(p.Ops[i]) {
			users[r] = append(users[r], i)
		}
	}
	return producer, users
}
