package program

// fusions are operations that one instruction evaluates together: means of random features, and sums of squares in
// single precision.
type fusions struct {
	angles  map[Reg]*Part   // of a register that is a matrix times another one and read by one SinCos alone: random features
	sums    map[Reg]*Affine // of a SinCos: the row of weights that alone reads it
	squares map[Reg]*Affine // of the squares that a row of ones alone reads: what is squared
	unread  map[Reg]bool    // values that no instruction reads
	sinCos  map[Reg]Reg     // of angles: the SinCos that reads them
}

// findFusions returns those of a program. Where nothing differentiates it, squares that are only summed are not stored.
func findFusions(p *Program, values bool) fusions {
	f := fusions{map[Reg]*Part{}, map[Reg]*Affine{}, map[Reg]*Affine{}, map[Reg]bool{}, map[Reg]Reg{}}
	u := usesOf(p)
	for _, o := range p.Ops {
		switch o := o.(type) {
		case *SinCos:
			if a := u.plain(o.X); a != nil && len(a.Parts) == 1 {
				f.angles[o.X], f.sinCos[o.X] = &a.Parts[0], o.Out
			}
		case *Affine:
			if p.Rows(o.Out) != 1 || len(o.C) > 0 {
				continue
			}
			if s, ok := u.makes[o.Parts[0].X].(*SinCos); ok && len(o.Parts) == 1 && u.readers[s.Out] == 1 && f.angles[s.X] != nil {
				f.sums[s.Out] = o
			}
			if values && u.sumsSquares(o) {
				f.squared(o, &u)
			}
		}
	}
	return f
}

// squared notes that the parts of o are squares that nothing else reads.
func (f *fusions) squared(o *Affine, u *uses) {
	for i := range o.Parts {
		s := u.makes[o.Parts[i].X].(*Function)
		f.squares[s.Out] = u.plain(s.X)
		f.unread[s.Out], f.unread[s.X] = true, true
	}
}

// uses are what makes the registers of a program, and how many operations and outputs read them.
type uses struct {
	makes   map[Reg]Operation
	readers map[Reg]int
}

func usesOf(p *Program) uses {
	u := uses{map[Reg]Operation{}, map[Reg]int{}}
	for _, o := range p.Ops {
		for _, r := range o.results() {
			u.makes[r] = o
		}
		for _, r := range o.operands() {
			u.readers[r]++
		}
	}
	for _, out := range p.Outputs {
		u.readers[out.Reg]++
	}
	return u
}

// plain returns what makes a register, where that is an Affine without a constant that is read once; else nil.
func (u *uses) plain(r Reg) *Affine {
	if a, ok := u.makes[r].(*Affine); ok && u.readers[r] == 1 && len(a.C) == 0 {
		return a
	}
	return nil
}

// sumsSquares reports whether an Affine adds up the squares of others, which are read once.
func (u *uses) sumsSquares(o *Affine) bool {
	for i := range o.Parts {
		s, ok := u.makes[o.Parts[i].X].(*Function)
		if !ok || s.F != Square || u.readers[s.Out] != 1 || !ones(o.Parts[i].M) || u.plain(s.X) == nil {
			return false
		}
	}
	return true
}

func ones(v []float64) bool {
	for _, x := range v {
		if x != 1 {
			return false
		}
	}
	return true
}

// lastReads returns for each operation the results of others that it is the last to read: those that are no output. Where
// a kernel reads the operands of an operation in its place, or a result is rows of a register, these are read as late as
// the result.
func lastReads(p *Program, f *fusions) [][]Reg {
	last, never := make([]int, len(p.Registers)), make([]bool, len(p.Registers))
	for i := range last {
		last[i] = -1
	}
	for _, list := range [][]Port{p.Inputs, p.Outputs} {
		for _, port := range list {
			never[port.Reg] = true
		}
	}
	for _, c := range p.Constants {
		never[c.Reg] = true
	}
	for i := len(p.Ops) - 1; i >= 0; i-- {
		at, keep := i, false
		switch o := p.Ops[i].(type) {
		case *Gather:
			at, keep = max(i, last[o.Out]), never[o.Out]
		case *Repeat:
		default:
			out := o.results()[0]
			if f.unread[out] || f.angles[out] != nil || f.sums[out] != nil {
				at = max(i, last[out])
			}
		}
		for _, r := range p.Ops[i].operands() {
			last[r], never[r] = max(last[r], at), never[r] || keep
		}
	}
	out := make([][]Reg, len(p.Ops))
	for r, i := range last {
		if i >= 0 && !never[r] {
			out[i] = append(out[i], Reg(r))
		}
	}
	return out
}
