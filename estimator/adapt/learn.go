package adapt

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// learn compares the predictions of a window with y (K), what was measured at the end of bucket b: first under the input that was
// held at its start, then under the input that was recorded, from which θ is learned.
func (f *Filter) learn(w *window, b int) {
	for r := f.state.readouts() - 1; r >= 0; r-- {
		if w.reads(b, r) {
			f.ask(w, f.buckets[b], estimator.Readout(r))
			f.compare(w, b, r)
		}
	}
}

// ask sets the query of a prediction h seconds from the start of a window under a readout.
func (f *Filter) ask(w *window, h float64, r estimator.Readout) {
	f.query = estimator.Query{X0: w.x, U: w.u, History: w.rows[:w.n]}
	if P := f.m.P; P > 0 && r == estimator.Plan {
		f.inputs.start, f.query.Plan, f.query.PlanStep = w.t, f.plan, h/planRows
		for i := range planRows {
			f.inputs.mean(f.plan[i*P:(i+1)*P], float64(i)*f.query.PlanStep, float64(i+1)*f.query.PlanStep)
		}
		f.query.U = f.plan[:P]
	}
}

// compare compares the prediction of f.query, of a window under readout r, with y at the end of bucket b.
func (f *Filter) compare(w *window, b, r int) {
	K, q, h := f.m.K, len(f.prior), f.buckets[b]
	made := f.made[b]
	if !f.predictors[b].Predict(made, &f.query) {
		return
	}
	theta, u := f.state.Theta, f.corrector.signal(&f.query)
	f.rollout.Run(w.x, f.actuators.Start(u, w.rows[:w.n]), theta, h, true)
	f.rollout.At(f.delta, nil, h)
	f.rollout.SensitivityAt(f.sensitivity, h)
	f.subtractPast(w, b, r)
	if !finite(f.delta) || !finite(f.sensitivity) {
		return
	}
	apart := f.m.Horizon / perHorizon * float64(every[r][b])
	interval := math.Max(h/4, apart)
	copy(f.away, theta) // where it was differentiated
	at, F := f.at.set(w.x, u, h), len(f.restGain)
	gainOf(f.restGain, f.state.RestCovariances[(r*Buckets+b)*F*F:(r*Buckets+b+1)*F*F], at, restMore*math.Max(1, h/apart))
	if f.state.gainsCount(K, f.m.P) && f.predictActing(b, r) && f.state.Acting[r] > 0 {
		made = f.acting[b]
	}
	for k, c := range f.m.Channels[:K] {
		e := nearest(&c, f.y[k]-made.Mean[k])
		s, obs := f.sensitivity[k*q:(k+1)*q], made.ObsStd[k]*made.ObsStd[k]
		if !(obs > 0) {
			continue
		}
		f.judge(w, b, r, k, e, s, obs)
		if estimator.Readout(r) == estimator.Hold { // the error is that of the input, too
			continue
		}
		e -= f.delta[k]
		for i, v := range s {
			e -= v * (theta[i] - f.away[i])
		}
		f.update(s, e, obs, 4*math.Max(1, h/interval))
	}
	f.bound()
}

// series returns the place of channel k in bucket b under readout r among all series.
func (f *Filter) series(r, b, k int) int { return (r*Buckets+b)*f.m.K + k }

// surest bounds the score of the inputs that act, so that it can turn.
const surest = 20.

// predictActing predicts the end of bucket b under readout r from the inputs that act, less what θ adds, and judges what experts without
// a regression make of that against what they make of the last prediction. It returns false where it cannot.
func (f *Filter) predictActing(b, r int) bool {
	made, plain, st := f.acting[b], f.made[b], &f.state
	ok := f.predictors[b].Predict(made, f.corrector.acting(&f.query, st)) && f.corrector.addStill(made, f.buckets[b])
	if !ok {
		return false
	}
	better := 0.0
	for k, c := range f.m.Channels[:f.m.K] {
		made.Mean[k] -= f.delta[k]
		at, obs := f.series(r, b, k), plain.ObsStd[k]*plain.ObsStd[k]
		if !(obs > 0) {
			continue
		}
		moved := mixtureOf(st.Weights[at*experts:(at+1)*experts], 0, 0, 0).slope * f.delta[k]
		better += scoreOf(nearest(&c, f.y[k]-plain.Mean[k])-moved, obs) - scoreOf(nearest(&c, f.y[k]-made.Mean[k])-moved, obs)
	}
	st.Acting[r] = math.Max(-surest, math.Min(st.Acting[r]+better, surest))
	return true
}

// nearest returns a difference of a channel on the nearest turn.
func nearest(c *channel.Channel, d float64) float64 {
	if c.Period > 0 {
		d -= c.Period * math.Round(d/c.Period)
	}
	return d
}

// bound keeps θ within widest deviations of the prior.
func (f *Filter) bound() {
	theta := f.state.Theta
	for i, v := range f.prior {
		most := widest * math.Sqrt(v)
		theta[i] = math.Max(-most, math.Min(theta[i], most))
	}
}

// subtractPast takes the history's part of a window in bucket b under readout r from delta and sensitivity.
// It was linearised when the window began.
func (f *Filter) subtractPast(w *window, b, r int) {
	q := len(f.prior)
	for k := range f.m.K {
		at := f.series(r, b, k)
		f.delta[k] -= w.past[at]
		s := w.pastBy[at*q : (at+1)*q]
		for i, v := range s {
			f.delta[k] -= v * (f.state.Theta[i] - w.theta[i])
			f.sensitivity[k*q+i] -= v
		}
	}
}

// judge updates the weights of channel k in bucket b under readout r by what the experts predicted when the
// window began, and then its regressions: e is the error of the unadapted prediction.
func (f *Filter) judge(w *window, b, r, k int, e float64, s []float64, obs float64) {
	st, q := &f.state, len(f.prior)
	delta, variance := f.delta[k], 0.0
	for i, v := range s {
		delta += v * (w.theta[i] - f.away[i])
		variance += v * dot(w.covariance[i*q:(i+1)*q], s)
	}
	variance = math.Max(variance, 0)
	at, end := f.series(r, b, k), f.series(r+1, 0, 0)
	st.Variances[at] = variance
	v, F := f.at.at, len(f.restGain)
	own, rest := dot(w.errors[at*F:(at+1)*F], v), dot(w.rests[at*F:(at+1)*F], v)
	wide := obs + variance
	scores := [experts]float64{
		unadapted: scoreOf(e, obs), shifted: scoreOf(e-own, obs), half: scoreOf(e-0.5*delta, wide), adapted: scoreOf(e-delta, wide), adaptedShifted: scoreOf(e-delta-rest, wide),
	}
	f.enter(every[r][b], at, end, e, mixtureOf(w.weights[at*experts:(at+1)*experts], own, rest, variance).moved(delta), obs)
	share(st.Weights[at*experts : (at+1)*experts])
	temper := math.Min(2, float64(every[r][b])) // windows apart are less alike
	for at := at; at < end; at += f.m.K {
		updateWeights(st.Weights[at*experts:(at+1)*experts], &scores, temper)
		temper *= gateLonger
	}
	f.regress(st.Errors[at*F:(at+1)*F], e, obs)
	f.regress(st.Rests[at*F:(at+1)*F], e-delta, obs)
}

// enter enters the error of a series without adaptation, e, and what the mixture moved its mean by when the window began into the ledgers of
// its channel from its bucket on, up to series end.
func (f *Filter) enter(every, at, end int, e, moved, obs float64) {
	keep := math.Exp(-float64(every) / (perHorizon * ledgerHorizons))
	own := f.state.Ledger[ledgerSums*at : ledgerSums*(at+1)]
	for i := range own {
		own[i] *= keep
	}
	if most := ledgerWorst * obs / math.Max(e*e, moved*moved); most < 1 {
		e, moved = e*math.Sqrt(most), moved*math.Sqrt(most)
	}
	counts, entry := 1.0, [ledgerSums]float64{1, e * e / obs, e * moved / obs, moved * moved / obs}
	for at := at; at < end; at += f.m.K {
		for i, v := range entry {
			f.state.Ledger[ledgerSums*at+i] += counts * v
		}
		counts *= gateLonger
	}
}

// regress moves the coefficients of a regression (F) by an error of variance obs.
func (f *Filter) regress(coefficients []float64, e, obs float64) {
	if d := e - dot(coefficients, f.at.at); d*d < mostFar*obs {
		for i, g := range f.restGain {
			coefficients[i] += g * d
		}
	}
}

// update is the measurement update of an extended Kalman filter by one error e of variance
// obs times more, of which s (q) is the sensitivity; in Joseph's form, so that the covariance
// stays positive.
func (f *Filter) update(s []float64, e, obs, more float64) {
	q, P := len(f.prior), f.state.Covariance
	spread := 0.0
	for i := range q {
		f.gain[i] = dot(P[i*q:(i+1)*q], s)
		spread += f.gain[i] * s[i]
	}
	z2 := e * e / (obs + spread)
	if !(z2 <= mostFar) {
		f.doubt()
		return
	}
	r := obs * more * math.Max(1, z2/mostNear)
	total := spread + r
	for i := range q { // T = (I − K s) P
		for j := range q {
			f.product[i*q+j] = P[i*q+j] - f.gain[i]*f.gain[j]/total
		}
	}
	for i := range q {
		ts := dot(f.product[i*q:(i+1)*q], s)
		for j := range i + 1 { // T (I − K s)ᵀ + K r Kᵀ
			v := f.product[i*q+j] - ts*f.gain[j]/total + f.gain[i]*r*f.gain[j]/(total*total)
			P[i*q+j], P[j*q+i] = v, v
		}
	}
	for i := range q {
		f.state.Theta[i] += f.gain[i] * e / total
	}
}

// doubt widens the covariance a little, up to the prior's: what cannot be explained may be a
// change, and repeats itself then.
func (f *Filter) doubt() {
	q, P := len(f.prior), f.state.Covariance
	for i, v := range f.prior {
		P[i*q+i] = math.Max(P[i*q+i], math.Min(P[i*q+i]+doubted*v, v))
	}
}
