package flightlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// A recorder writes a log, here into memory; a program reads it record by record.
// CreateFile and ReadFile do the same with a file.
func Example() {
	var file bytes.Buffer
	w, err := flightlog.NewWriter(&file, flightlog.Header{
		Vehicle: "pend1",
		Channels: []channel.Channel{
			{Name: "theta", Unit: "rad", Role: channel.State, Period: 2 * math.Pi, Derivative: "omega"},
			{Name: "omega", Unit: "rad/s", Role: channel.State},
			{Name: "torque", Unit: "Nm", Role: channel.Input},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	const period = 10_000_000 // ns
	err = errors.Join(
		w.BeginSegment("swing", nil),
		w.Sample(0*period, []float64{0.5, -2}, []float64{0.25}, nil),
		w.Sample(1*period, []float64{0.48, math.NaN()}, []float64{0.25}, nil), // omega was not measured
		w.Note(1*period, "the encoder missed a pulse"),
		w.Flush(),
	)
	if err != nil {
		fmt.Println(err)
		return
	}

	r, err := flightlog.NewReader(&file, "swing.msgpack")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("vehicle", r.Header().Vehicle)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil { // damage, or a record with impossible content: Next continues after it
			fmt.Println(err)
			continue
		}
		switch rec.Kind {
		case flightlog.KindSegment:
			fmt.Println("segment", rec.Name)
		case flightlog.KindSample:
			fmt.Println(rec.T, "ns: state", rec.X, "input", rec.U)
		case flightlog.KindNote:
			fmt.Println(rec.T, "ns:", rec.Text)
		}
	}
	// Output:
	// vehicle pend1
	// segment swing
	// 0 ns: state [0.5 -2] input [0.25]
	// 10000000 ns: state [0.48 NaN] input [0.25]
	// 10000000 ns: the encoder missed a pulse
}
