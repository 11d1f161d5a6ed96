package estimator_test

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// A pendulum is measured at 0.5 rad, at rest, and its motor's torque is planned: 0.2 N·m
// for a quarter of a second, then none. The model was trained on 90 s of a simulated
// pendulum:
//
//	dgm-sim record --system pendulum --duration 90s --rate 100 --out pendulum.msgpack
//	dgm-train --log pendulum.msgpack --preset quick --features 20 --members 1 --horizon 500ms --points 10
func Example() {
	m, err := model.ReadFile("testdata/pendulum.dgm")
	if err != nil {
		fmt.Println(err)
		return
	}
	predictor, err := estimator.NewFast(m, nil) // at the model's own times
	if err != nil {
		fmt.Println(err)
		return
	}
	p := predictor.NewPrediction() // memory for all predictions to come
	query := estimator.Query{X0: []float64{0.5, 0}, Plan: []float64{0.2, 0}}
	if !predictor.Predict(p, &query) {
		fmt.Println("a number is not finite")
		return
	}
	for i, t := range p.Times {
		if i%3 == 0 {
			theta, omega := i*m.K, i*m.K+1
			fmt.Printf("%.2f s: theta %.2f ± %.2f %s, omega %.1f ± %.1f %s\n", t,
				p.Mean[theta], 2*p.Std[theta], m.Channels[0].Unit, p.Mean[omega], 2*p.Std[omega], m.Channels[1].Unit)
		}
	}
	fmt.Println("out of distribution:", p.OutOfDistribution)
	// Output:
	// 0.05 s: theta 0.49 ± 0.02 rad, omega -0.4 ± 0.1 rad/s
	// 0.20 s: theta 0.36 ± 0.02 rad, omega -1.3 ± 0.1 rad/s
	// 0.35 s: theta 0.13 ± 0.02 rad, omega -1.7 ± 0.1 rad/s
	// 0.50 s: theta -0.13 ± 0.02 rad, omega -1.5 ± 0.1 rad/s
	// out of distribution: false
}
