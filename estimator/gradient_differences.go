package estimator

// Steps of the differences, over the scale of a number: of the double precision of a
// Predictor, and the single one of a Fast.
const (
	doubleStep = 1e-5
	singleStep = 1e-2
)

// differences is the memory for the differences of standard deviations.
type differences struct {
	plus, minus Prediction
	x0, input   []float64 // K, rows·P
	query       Query
}

func newDifferences(p *Predictor, numbers int) differences {
	return differences{plus: *p.NewPrediction(), minus: *p.NewPrediction(), x0: make([]float64, p.m.K), input: make([]float64, numbers)}
}

// add adds to dst what the standard deviations contribute, whose adjoints are std, by
// central differences of predictions.
func (w *differences) add(dst *Gradient, p *Predictor, by checkable, step float64, q *Query, std []float64) (ok bool) {
	if std == nil {
		return true
	}
	w.query = *q
	w.query.X0 = w.x0
	copy(w.x0, q.X0)
	if len(q.Plan) > 0 {
		w.query.Plan = w.input
		copy(w.input, q.Plan)
	} else {
		w.query.U = w.input
		copy(w.input, p.m.Inputs.InputMean)
		copy(w.input, q.U)
	}
	ok = true
	along := func(to, v, scale []float64) {
		for i, at := range v {
			h := step * scale[i%len(scale)]
			v[i] = at + h
			ok = by.Predict(&w.plus, &w.query) && ok
			v[i] = at - h
			ok = by.Predict(&w.minus, &w.query) && ok
			v[i] = at
			for j, b := range std {
				to[i] += b * (w.plus.Std[j] - w.minus.Std[j]) / (2 * h)
			}
		}
	}
	along(dst.X0, w.x0, p.m.Scale)
	if p.m.P > 0 {
		along(dst.Plan, w.input, p.m.Inputs.InputStd)
	}
	w.query = Query{} // the caller's memory
	return ok
}
