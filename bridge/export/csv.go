package export

import (
	"bufio"
	"context"
	"encoding/csv"
	"math"
	"slices"
	"strconv"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// CSV writes a log as a table of text: the number and name of the segment, the
// time in ns, then a column for each channel, named "name [unit]" as in the log's
// order of states, inputs and others. A cell is empty where nothing was measured.
// The file has its name only when it is whole.
func CSV(ctx context.Context, path, out string, progress func(float64)) (*Summary, error) {
	return convert(path, out, progress, func(l *log, file *bufio.Writer, s *Summary) error {
		return writeTable(ctx, csv.NewWriter(file), l, s)
	})
}

// writeTable writes the names of the columns and a row for each sample.
func writeTable(ctx context.Context, w *csv.Writer, l *log, s *Summary) error {
	if err := w.Write(columns(l.r.Header().Channels)); err != nil {
		return err
	}
	segment, name := -1, ""
	var row []string
	err := l.each(ctx, s, func(r *flightlog.Record) error {
		switch r.Kind {
		case flightlog.KindSegment:
			segment, name = segment+1, r.Name
		case flightlog.KindSample:
			segment = max(0, segment)
			row = append(row[:0], strconv.Itoa(segment), name, strconv.FormatInt(r.T, 10))
			for _, v := range slices.Concat(r.X, r.U, r.Aux) {
				row = append(row, cell(v))
			}
			s.Samples++
			return w.Write(row)
		}
		return nil
	})
	w.Flush()
	// The first error counts: a full disk is reported by each.
	if err == nil {
		err = w.Error()
	}
	return err
}

func columns(channels []channel.Channel) []string {
	names := []string{"segment", "name", "t [ns]"}
	for _, role := range []channel.Role{channel.State, channel.Input, channel.Aux} {
		for _, c := range channel.Select(channels, role) {
			names = append(names, title(c))
		}
	}
	return names
}

// cell writes a value; nothing where it was not measured.
func cell(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
