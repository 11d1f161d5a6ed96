package estimation

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

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
