package predictors

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// place gathers the scores of one channel at one horizon.
type place struct {
	score.Counters
	hold  float64   // sum of the squares of the measured displacements
	sizes []float64 // |error| / std of every window
}

func (p *place) add(x, m, s float64) error {
	if err := score.Check(x, m, s); err != nil {
		return err
	}
	p.Add(x, m, s)
	p.hold += x * x
	p.sizes = append(p.sizes, math.Abs(x-m)/s)
	return nil
}

// holdRMSE is the RMSE of holding the last value.
func (p *place) holdRMSE() float64 { return math.Sqrt(p.hold / float64(p.N)) }

// equalWidth is the mean standard deviation, scaled so that the 95 % intervals cover 95 %.
func (p *place) equalWidth() float64 {
	slices.Sort(p.sizes)
	return p.Std() * stat.Quantile(0.95, stat.Empirical, p.sizes, nil) / score.Z95
}

// measure scores a predictor on all windows of the test flights, and puts the scores into a
// row.
func measure(row *study.Row, d *data, p *predictor) error {
	times, K := d.of.horizons, len(d.task.States)
	places := make([]place, len(times)*K)
	mean, std := make([]float64, len(places)), make([]float64, len(places))
	windows := window.Cut(d.test, d.task.Horizon, testStride)
	for w := range replay.Each(d.test, windows, times) {
		if err := p.predict(mean, std, w); err != nil {
			return err
		}
		for j, y := range w.Measured {
			if math.IsNaN(y) {
				continue
			}
			if p.half50 != nil {
				places[j].Half50 = p.half50(w, j)
			}
			if err := places[j].add(y, mean[j], std[j]); err != nil {
				return fmt.Errorf("%s: channel %q after %g s: %w", p.name, d.task.States[j%K].Name, times[j/K], err)
			}
		}
	}
	row.Put("name", d.of.name).Put("recording", d.of.title).Put("predictor", p.name).Put("windows", len(windows)).Put("fit_seconds", math.Round(p.seconds*10)/10)
	if err := freeRun(row, d, p); err != nil {
		return err
	}
	return report(row, d, places)
}

// report puts the scores of all channels and horizons into a row.
func report(row *study.Row, d *data, places []place) error {
	K := len(d.task.States)
	var rmse, hold, width, crps, coverage50, coverage95 []float64
	byChannel := make([]float64, K)
	least, at := math.Inf(1), ""
	for j := range places {
		p := &places[j]
		name, t := d.task.States[j%K].Name, d.of.horizons[j/K]
		if p.N == 0 || p.hold == 0 {
			return fmt.Errorf("channel %q does not move within %g s on any window", name, t)
		}
		c50, _, c95 := p.Coverage()
		byChannel[j%K] += c95 / float64(len(d.of.horizons))
		if c95 < least {
			least, at = c95, fmt.Sprintf("%s, %g s", name, t)
		}
		rmse, hold, width, crps = append(rmse, p.RMSE()), append(hold, p.holdRMSE()), append(width, p.equalWidth()), append(crps, p.CRPS())
		coverage50, coverage95 = append(coverage50, c50), append(coverage95, c95)
	}
	var ratios, by50, by95 []float64
	for t := 0; t < len(places); t += K {
		ratios = append(ratios, round(score.GeoRatio(rmse[t:t+K], hold[t:t+K]), 4))
		by50, by95 = append(by50, round(study.Mean(coverage50[t:t+K]), 4)), append(by95, round(study.Mean(coverage95[t:t+K]), 4))
	}
	row.Put("geo", round(score.GeoRatio(rmse, hold), 4)).Put("geo_by_horizon", ratios)
	row.Put("coverage95_by_horizon", by95).Put("coverage50_by_horizon", by50)
	var channels []string
	for k, c := range d.task.States {
		channels, byChannel[k] = append(channels, c.Name), round(byChannel[k], 4)
	}
	row.Put("channels", channels).Put("coverage95_by_channel", byChannel)
	row.Put("worst_coverage95", round(least, 4)).Put("worst", at)
	row.Put("width", round(score.GeoRatio(width, hold), 4)).Put("crps", round(score.GeoRatio(crps, hold), 4))
	return nil
}

func round(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(v*scale) / scale
}
