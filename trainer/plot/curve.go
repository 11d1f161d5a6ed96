package plot

// TrainingCurve draws objective values against steps. What is far above the last
// nine tenths of a curve (its beginning) may leave the chart at the top.
func TrainingCurve(lines []Line, yLabel string) ([]byte, error) {
	c := Chart{
		Title: "Objective", XLabel: "step", YLabel: yLabel, Lines: lines,
		Description: "The objective and its parts during training.",
	}
	var settled, all limits
	for _, l := range lines {
		settled.add(l.Y[min(len(l.Y)/10, len(l.Y)):]...)
		all.add(l.Y...)
	}
	if settled.any {
		lo, hi := settled.padded(0.08)
		if all.hi > hi+2*(hi-lo) || all.lo < lo-2*(hi-lo) {
			c.YMin, c.YMax = lo, hi
		}
	}
	return c.SVG()
}
