package ridge

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/replay"
)

// Of the agreement: windows of a fold that are read, and the least that is usual, a share of how far displacements lie from the middle of what
// the levels below predict.
const (
	agreementWindows = 400
	leastApart       = 0.1
)

// SetAgreement bounds the levels that read the most history by those below them, where there are two: by how far, channel by channel and time by time, each
// fold's map usually goes beyond these on what the fold holds out, the geometric mean over folds. Maps of residuals are only measured so: what an equation
// leaves on a new manoeuvre may well be larger, and history is how they know it.
func (f *Fitted) SetAgreement() {
	for _, maps := range []*Maps{&f.Maps, &f.Residuals} {
		for i := range maps.Model.Levels {
			if maps.Model.Below(&maps.Model.Levels[i]) == nil {
				continue
			}
			apart := maps.apart(i, f.held)
			for _, m := range maps.all() {
				m.Levels[i].Apart = apart
			}
		}
	}
}

// apart returns the direct.Level.Apart of level i.
func (m *Maps) apart(i int, held []part) []float64 {
	l := &m.Model.Levels[i]
	size := len(l.Times) * len(m.Model.Derivative)
	logs := make([][]float64, len(m.Folds)) // of each fold; nil without windows
	cores.Each(len(m.Folds), func(fold int) { logs[fold] = squaresApart(&m.Folds[fold], i, held[fold]) })
	out, n := make([]float64, size), 0.0
	for _, of := range logs {
		if of != nil {
			n++
		}
		for j, v := range of {
			out[j] += v
		}
	}
	for j := range out {
		out[j] = math.Exp(out[j] / (2 * math.Max(n, 1)))
	}
	return out
}

// squaresApart returns the logarithms of the mean squares of how far level i of a fold's map goes beyond those below, over the time, on what is held out; nil
// where no window has as much history.
func squaresApart(m *direct.Model, i int, p part) []float64 {
	if len(p.windows) == 0 {
		return nil
	}
	l := &m.Levels[i]
	K, size := len(m.Derivative), len(l.Times)*len(m.Derivative)
	l.Apart = slices.Repeat([]float64{1}, size)
	run := direct.New(m, K, l.Times[len(l.Times)-1])
	beyond, middle, d, n := make([]float64, size), make([]float64, size), make([]float64, K), 0
	step := 1 + (len(p.windows)-1)/agreementWindows
	row := K + len(m.UMean)
	for w := range replay.Each(p.flights, p.windows, nil) {
		past := p.past[w.Number]
		if w.Number%step != 0 || len(past) < l.Rows*row {
			continue
		}
		run.Run(w.X0, w.Signal(model.Readout(l.Readout)), l.Readout, past[:l.Rows*row])
		for j, t := range l.Times {
			run.At(d, nil, t)
			run.AddSquares(beyond[j*K:(j+1)*K], middle[j*K:(j+1)*K], t)
		}
		n++
	}
	if n == 0 {
		return nil
	}
	out := make([]float64, size)
	for j := range out {
		out[j] = math.Log(math.Max(beyond[j], leastApart*leastApart*middle[j])/float64(n) + 4*direct.LeastApart*direct.LeastApart)
	}
	return out
}
