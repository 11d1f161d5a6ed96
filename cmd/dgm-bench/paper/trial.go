package paper

import (
	"github.com/dgm-robotics/dgm/trainer/score"
)

// predict asks for mean and standard deviation along all trajectories.
func (t *trial) predict(k int, ask func(mean, std, x0, times []float64)) []score.Trajectory {
	var out []score.Trajectory
	for i, x0 := range t.starts {
		tr := score.Trajectory{Truth: t.truth[i], Mean: make([]float64, len(t.times)*k), Std: make([]float64, len(t.times)*k)}
		ask(tr.Mean, tr.Std, x0, t.times)
		out = append(out, tr)
	}
	return out
}

// score scores mean and standard deviation along all trajectories; rmse is by channel.
func (t *trial) score(k int, ask func(mean, std, x0, times []float64)) (s scores, rmse []float64, err error) {
	q, err := score.Trajectories(t.predict(k, ask), k)
	if err != nil {
		return scores{}, nil, err
	}
	return scored(q), q.RMSE, nil
}

// integrated scores what is integrated from the starts, which it knows for certain
// and is not scored on. It returns nil where that cannot be integrated.
func (t *trial) integrated(k int, ask func(mean, std, x0, times []float64) (ok bool)) (*scores, error) {
	fine := true
	trs := t.predict(k, func(mean, std, x0, times []float64) { fine = ask(mean, std, x0, times) && fine })
	if !fine {
		return nil, nil
	}
	for i := range trs {
		tr := &trs[i]
		tr.Truth, tr.Mean, tr.Std = tr.Truth[k:], tr.Mean[k:], tr.Std[k:]
	}
	s, err := score.Trajectories(trs, k)
	if err != nil {
		return nil, err
	}
	out := scored(s)
	return &out, nil
}
