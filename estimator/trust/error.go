package trust

import "math"

// at interpolates a prediction to a time; ok is false beyond its last row.
func (m *Monitor) at(w *waiting, age float64) (ok bool) {
	times, K := m.cfg.Times[:w.rows], m.cfg.K
	i := 0
	for i < w.rows && times[i] < age {
		i++
	}
	if i == w.rows {
		if i--; age > times[i]*(1+1e-3) {
			return false
		}
	}
	j, f := i, 0.
	if i > 0 {
		j, f = i-1, min((times[i]-age)/(times[i]-times[i-1]), 1)
		f = max(f, 0)
	}
	for k := range K {
		m.mean[k] = w.mean[i*K+k] + f*(w.mean[j*K+k]-w.mean[i*K+k])
		m.std[k] = w.std[i*K+k] + f*(w.std[j*K+k]-w.std[i*K+k])
	}
	return true
}

// off returns the error d of a channel, of an angle the shorter way round.
func (m *Monitor) off(k int, d float64) float64 {
	if turn := m.cfg.Period[k]; turn > 0 {
		d -= turn * math.Round(d/turn)
	}
	return d
}
