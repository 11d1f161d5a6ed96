package direct

// ColumnsAt writes the columns at t of the last Run to dst (C).
func (d *Map) ColumnsAt(dst []float64, t float64) {
	d.plan(t, false)
	d.products(d.column)
	copy(dst, d.column[:d.m.Columns(d.level)])
}
