package wire_test

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A robot encodes its state and publishes it. The buffer is used again.
func ExampleState() {
	if err := wire.CheckVehicle("pend1"); err != nil {
		fmt.Println(err)
		return
	}
	state := wire.State{
		Seq: 7, T: 1772682400399326324, // ns, Unix time of the measurement
		X: []float64{0.5, -2}, // theta, omega
		U: []float64{0.25},    // torque
	}
	var buf []byte
	buf = state.Append(buf[:0])
	fmt.Println(len(buf), "bytes on", wire.StateSubject("pend1"))
	// Output:
	// 52 bytes on dgm.state.pend1
}

// A planner decodes a prediction: rows of times, columns of channels.
func ExamplePrediction() {
	answer := wire.Prediction{ // of an estimator
		Vehicle: "pend1", Model: "a1b2c3d4e5f60718", Seq: 7, T: 1772682400399326324,
		Channels: []string{"theta", "omega"}, Units: []string{"rad", "rad/s"},
		Horizon: []float64{0.5, 1},
		Mean:    []float64{-0.5, -1.5, -1, 0.25},
		Std:     []float64{0.125, 0.25, 0.25, 0.5},
		ObsStd:  []float64{0.25, 0.5, 0.5, 0.75},
		Inputs:  "hold", Flags: wire.OutOfDistribution, OOD: 1.5,
	}
	message := answer.Append(nil)

	var p wire.Prediction
	if err := p.Decode(message); err != nil {
		fmt.Println(err)
		return
	}
	K := len(p.Channels)
	for i, t := range p.Horizon {
		for k, name := range p.Channels {
			fmt.Printf("%s in %g s: %g ± %g %s\n", name, t, p.Mean[i*K+k], p.Std[i*K+k], p.Units[k])
		}
	}
	fmt.Println("do not plan on it:", p.Flags&wire.Warnings != 0)
	// Output:
	// theta in 0.5 s: -0.5 ± 0.125 rad
	// omega in 0.5 s: -1.5 ± 0.25 rad/s
	// theta in 1 s: -1 ± 0.25 rad
	// omega in 1 s: 0.25 ± 0.5 rad/s
	// do not plan on it: true
}
