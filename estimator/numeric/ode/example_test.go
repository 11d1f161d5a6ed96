package ode_test

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
)

// A robot's input is held between samples, so a torque that switches from 1 to
// −0.5 N·m is integrated in two pieces, each smooth.
func ExampleDopri5_Advance() {
	torque := 0.0
	motor := func(dst []float64, _ float64, x []float64) {
		dst[0] = x[1]   // angle, rad
		dst[1] = torque // rate, rad/s, for an inertia of 1 kg·m²
	}
	solver := ode.NewDopri5(2, ode.Config{RTol: 1e-9})
	x := []float64{0, 0}
	for i, held := range []float64{1, -0.5} {
		torque = held
		if !solver.Advance(motor, x, float64(i), float64(i+1)) {
			fmt.Println("the state is not finite")
			return
		}
	}
	fmt.Printf("angle %.3f rad, rate %.3f rad/s\n", x[0], x[1])
	// Output: angle 1.250 rad, rate 0.500 rad/s
}
