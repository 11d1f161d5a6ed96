package export

import (
	"bufio"
	"context"
	"encoding/csv"
	"math"
	"strconv"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// CSV writes a log as a table of text: the number and name of the segment, the
// time in ns, then a column for each channel, named "name [unit]" as in the log's
// order of states, inputs and others. A cell is empty where nothing was measured.
// The file stands under its name only when it is whole.
func CSV(ctx context.Context, path, out string, progress func(float64)) (*Summary, error) {
	l, err := openLog(path, progress)
	if err != nil {
		return nil, err
	}
	defer l.file.Close()
	f, err := durable.Create(out)
	if err != nil {
		return nil, err
	}
	defer f.Abort()
	s := &Summary{Out: out}
	buffer := bufio.NewWriterSize(f, 64<<10)
	w := csv.NewWriter(buffer)
	row := []string{"segment", "name", "t [ns]"}
	for _, role := range []channel.Role{channel.State, channel.Input, channel.Aux} {
		for _, c := range channel.Select(l.r.Header().Channels, role) {
			if c.Unit != "" {
				c.Name += " [" + c.Unit + "]"
			}
			row = append(row, c.Name)
		}
	}
	if err := w.Write(row); err != nil {
		return nil, err
	}
	segment, name := -1, ""
	err = l.each(ctx, s, func(r *flightlog.Record) error {
		switch r.Kind {
		case flightlog.KindSegment:
			segment, name = segment+1, r.Name
		case flightlog.KindSample:
			segment = max(0, segment)
			row = append(row[:0], strconv.Itoa(segment), name, strconv.FormatInt(r.T, 10))
			for _, values := range [][]float64{r.X, r.U, r.Aux} {
				for _, v := range values {
					if math.IsNaN(v) {
						row = append(row, "")
					} else {
						row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
					}
				}
			}
			s.Samples++
			return w.Write(row)
		}
		return nil
	})
	w.Flush()
	// What failed first: a full disk says so at each.
	for _, e := range []error{w.Error(), buffer.Flush()} {
		if err == nil {
			err = e
		}
	}
	if err != nil {
		return nil, err
	}
	return s, f.Commit()
}
