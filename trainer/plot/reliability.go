package plot

// Reliability is how often what was said with some confidence came true.
type Reliability struct {
	Label             string    // the horizon
	Nominal, Observed []float64 // 0 to 1
}

// ReliabilityDiagram draws observed against nominal coverage.
func ReliabilityDiagram(all []Reliability) ([]byte, error) {
	c := Chart{
		Title: "Reliability", XLabel: "said (nominal coverage)", YLabel: "happened", Diagonal: true,
		XMin: 0, XMax: 1, YMin: 0, YMax: 1, Height: 330,
		Description: "Observed against nominal coverage of central intervals; true intervals lie on the diagonal.",
	}
	colors := Sequence(len(all))
	for i, r := range all {
		c.Lines = append(c.Lines, Line{Name: r.Label, X: r.Nominal, Y: r.Observed, Color: colors[i]})
	}
	return c.SVG()
}
