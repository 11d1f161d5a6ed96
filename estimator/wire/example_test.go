package wire_test

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A robot writes a state; what comes back is rows of times and columns of channels.
func Example() {
	state := wire.State{Seq: 7, T: 1772682400399326324, X: []float64{0.5, -2}}
	buf := state.Append(nil) // publish this on wire.StateSubject("pend1")
	fmt.Println(len(buf), "bytes on", wire.StateSubject("pend1"))

	answer := smallPrediction.Append(nil) // what an estimator sends
	var p wire.Prediction
	if err := p.Decode(answer); err != nil {
		fmt.Println(err)
		return
	}
	K := len(p.Channels)
	for i, t := range p.Horizon {
		for k, name := range p.Channels {
			fmt.Printf("%s in %g s: %g ± %g %s\n", name, t, p.Mean[i*K+k], p.Std[i*K+k], p.Units[k])
		}
	}
	fmt.Println("caution:", p.Flags&wire.Warnings != 0)
	// Output:
	// 40 bytes on dgm.state.pend1
	// theta in 0.5 s: -0.5 ± 0.125 rad
	// omega in 0.5 s: -1.5 ± 0.25 rad/s
	// theta in 1 s: -1 ± 0.25 rad
	// omega in 1 s: 0.25 ± 0.5 rad/s
	// caution: true
}
