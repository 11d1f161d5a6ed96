package estimation

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/plot"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Charts draws what a filter makes of the rates of a flight that Apply returned, from a time after its first sample on for
// so many seconds: the estimate with its intervals, beside the slope from sample to sample of what was measured.
func Charts(f *window.Flight, spec *model.Filter, states []channel.Channel, from, seconds float64) ([]plot.Chart, error) {
	K := len(states)
	all, p := make([]plot.Prediction, len(spec.Chains)), make([]float64, K*K)
	last := make([]int, len(spec.Chains))
	err := again(f, spec, states, func(i int, k *filter.Filter, y []float64) bool {
		k.Covariance(p)
		for j, c := range spec.Chains {
			before := last[j]
			if !math.IsNaN(y[c.Position]) {
				last[j] = i
			}
			if f.T[i] < from || !k.Settled() {
				continue
			}
			x, std, at := k.Estimate()[c.Rate], math.Sqrt(p[c.Rate*K+c.Rate]), &all[j]
			at.T, at.Mean = append(at.T, f.InSegment(i)), append(at.Mean, x)
			at.Lo50, at.Hi50 = append(at.Lo50, x-score.Z50*std), append(at.Hi50, x+score.Z50*std)
			at.Lo95, at.Hi95 = append(at.Lo95, x-score.Z95*std), append(at.Hi95, x+score.Z95*std)
			if slope := (y[c.Position] - f.Exact[before*K+c.Position]) / (f.T[i] - f.T[before]); before < i && !math.IsNaN(slope) {
				at.At, at.Measured = append(at.At, f.InSegment(i)), append(at.Measured, slope)
			}
		}
		return f.T[i] <= from+seconds
	})
	if err != nil {
		return nil, err
	}
	var out []plot.Chart
	for j, c := range spec.Chains {
		at := &all[j]
		at.Channel, at.Unit, at.XLabel, at.MeasuredName = states[c.Rate].Name, states[c.Rate].Unit, "time in the segment, s", "slope of "+states[c.Position].Name
		at.Description = states[c.Rate].Name + " as the filter estimates it, with intervals of 50 and 95 %, and the slope from sample to sample of what was measured."
		out = append(out, at.Chart())
	}
	return out, nil
}

// again takes a flight that Apply returned through the filter once more. y (K) is what was measured; each is called after a
// sample, until it returns false.
func again(f *window.Flight, spec *model.Filter, states []channel.Channel, each func(i int, k *filter.Filter, y []float64) bool) error {
	k, err := filter.Of(spec, states, f.P)
	if err != nil {
		return err
	}
	K := len(states)
	y := make([]float64, K)
	for i := range f.N() {
		for j, v := range f.Exact[i*K : (i+1)*K] {
			if y[j] = v; states[j].Estimated {
				y[j] = math.NaN()
			}
		}
		k.Update(f.Origin+int64(math.Round(f.T[i]*1e9)), y, f.Input(i))
		if !each(i, k, y) {
			break
		}
	}
	return nil
}

// WriteCSV writes what a filter makes of flights that Apply returned: a row for each sample, with the segment, the time in
// it, s, and each state with its standard deviation; empty until the filter has settled.
func WriteCSV(w io.Writer, flights []window.Flight, spec *model.Filter, states []channel.Channel) error {
	out := csv.NewWriter(w)
	head := []string{"segment", "t"}
	for _, c := range states {
		head = append(head, c.Name, c.Name+"_std")
	}
	_ = out.Write(head) // the error is Error's, of all writes
	K := len(states)
	p := make([]float64, K*K)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
	for n := range flights {
		f := &flights[n]
		err := again(f, spec, states, func(i int, k *filter.Filter, _ []float64) bool {
			row := []string{f.Name, strconv.FormatFloat(f.InSegment(i), 'f', 6, 64)}
			k.Covariance(p)
			for j, v := range k.Estimate() {
				if k.Settled() {
					row = append(row, number(v), number(math.Sqrt(p[j*K+j])))
				} else {
					row = append(row, "", "")
				}
			}
			_ = out.Write(row)
			return true
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
