package latency

// gram holds columns in parts, with the products of all: a part is replaced without the products of the others.
type gram struct {
	parts []matrix
	G     matrix
}

func newGram(parts []matrix) *gram {
	all := beside(parts...)
	return &gram{parts: parts, G: product(all, all)}
}

// from returns the first column of a part.
func (g *gram) from(part int) (n int) {
	for _, m := range g.parts[:part] {
		n += m.Cols
	}
	return n
}

// replace replaces a part by as many other columns.
func (g *gram) replace(part int, m matrix) {
	g.parts[part] = m
	first := g.from(part)
	cross := product(beside(g.parts...), m)
	for i := range cross.Rows {
		for j, v := range cross.row(i) {
			g.G.row(i)[first+j], g.G.row(first + j)[i] = v, v
		}
	}
}

// without returns the projector of all parts but one.
func (g *gram) without(part int) *projector {
	var rest []matrix
	for i, m := range g.parts {
		if i != part {
			rest = append(rest, m)
		}
	}
	first, cols := g.from(part), g.parts[part].Cols
	G := newMatrix(g.G.Rows-cols, g.G.Cols-cols)
	for i := range G.Rows {
		row := g.G.row(i)
		if i >= first {
			row = g.G.row(i + cols)
		}
		copy(G.row(i), row[:first])
		copy(G.row(i)[first:], row[first+cols:])
	}
	return projectorOf(beside(rest...), G)
}
