package score

import "fmt"

// Trajectory is a truth and its prediction at n points of K channels.
type Trajectory struct {
	Truth, Mean, Std []float64 // n×K row-major, raw units
}

// Result is the score of a set of trajectories.
type Result struct {
	LogLik                             float64
	Coverage50, Coverage90, Coverage95 float64
	CRPS, RMSE                         []float64 // K, in the unit of each channel
}

// Trajectories scores as the paper's tables do: log likelihood and coverage are
// means over the points and channels of a trajectory, then over trajectories, so
// that every trajectory counts alike whatever its length. CRPS and RMSE have
// units and are kept apart by channel. The error names the first point that cannot be
// scored.
func Trajectories(trs []Trajectory, K int) (*Result, error) {
	out := &Result{CRPS: make([]float64, K), RMSE: make([]float64, K)}
	share := 1 / float64(len(trs))
	for j, tr := range trs {
		var all Counters
		byChannel := make([]Counters, K)
		for i, x := range tr.Truth {
			m, s := tr.Mean[i], tr.Std[i]
			if err := Check(x, m, s); err != nil {
				return nil, fmt.Errorf("trajectory %d, point %d, channel %d: %w", j, i/K, i%K, err)
			}
			all.Add(x, m, s)
			byChannel[i%K].Add(x, m, s)
		}
		c50, c90, c95 := all.Coverage()
		out.LogLik += share * all.LogLik()
		out.Coverage50 += share * c50
		out.Coverage90 += share * c90
		out.Coverage95 += share * c95
		for k := range K {
			out.CRPS[k] += share * byChannel[k].CRPS()
			out.RMSE[k] += share * byChannel[k].RMSE()
		}
	}
	return out, nil
}
