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

// findFusions returns those of a program. Where nothing differentiates it, values that only a kernel needs are not stored.
func findFusions(p *Program, values bool) fusions {
	readers, makes := map[Reg]int{}, map[Reg]Operation{}
	for _, o := range p.Ops {
		for _, r := range o.results() {
			makes[r] = o
		}
		for _, r := range o.operands() {
			readers[r]++
		}
	}
	for _, out := range p.Outputs {
		readers[out.Reg]++
	}
	// plain returns what makes a register, where that is an Affine without a constant that is read once.
	plain := func(r Reg) *Affine {
		if a, ok := makes[r].(*Affine); ok && readers[r] == 1 && len(a.C) == 0 {
			return a
		}
		return nil
	}
	f := fusions{map[Reg]*Part{}, map[Reg]*Affine{}, map[Reg]*Affine{}, map[Reg]bool{}, map[Reg]Reg{}}
	for _, o := range p.Ops {
		switch o := o.(type) {
		case *SinCos:
			if a := plain(o.X); a != nil && len(a.Parts) == 1 {
				f.angles[o.X], f.sinCos[o.X] = &a.Parts[0], o.Out
			}
		case *Affine:
			if p.Rows(o.Out) != 1 || len(o.C) > 0 {
				continue
			}
			if s, ok := makes[o.Parts[0].X].(*SinCos); ok && len(o.Parts) == 1 && readers[s.Out] == 1 && f.angles[s.X] != nil {
				f.sums[s.Out] = o
			}
			for i := 0; values && i < len(o.Parts); i++ {
				s, ok := makes[o.Parts[i].X].(*Function)
				if !ok || s.F != Square || readers[s.Out] != 1 || !ones(o.Parts[i].M) || plain(s.X) == nil {
					break
				}
				if i == len(o.Parts)-1 {
					for j := range o.Parts {
						squared := makes[o.Parts[j].X].(*Function)
						f.squares[squared.Out] = plain(squared.X)
						f.unread[squared.Out], f.unread[squared.X] = true, true
					}
				}
			}
		}
	}
	return f
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
