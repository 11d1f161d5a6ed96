package trainer_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer"
)

// A log of a torque-driven pendulum becomes a model, which is evaluated on segments that
// were held out.
func Example() {
	recorded := pendulum(1, 4) // four segments of ten seconds; flightlog.ReadFile reads one

	cfg := trainer.Quick()
	cfg.Horizon, cfg.Points = trainer.Duration(500*time.Millisecond), 4
	cfg.Members, cfg.Features, cfg.Training.Steps = 1, 20, 20
	cfg.Equation.Windows, cfg.Equation.Iterations, cfg.Equation.MotionWindows = 60, 10, 40
	cfg.DirectWindows, cfg.Folds.Windows = 400, 100
	cfg.Folds.Temperature = 0.1

	data, err := trainer.Load([]*flightlog.Log{recorded}, cfg)
	if err != nil {
		log.Fatal(err)
	}
	res, err := trainer.Train(context.Background(), data, cfg, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("held out:", res.Split.How)
	fmt.Println("chosen:", res.Chosen)
	fmt.Println("early end:", res.Partial != "")
	_, ratio := res.Table.Geo.Best()
	fmt.Println("better than every simple predictor:", ratio < 0.9)
	fmt.Println("error below a tenth of holding the last value:", res.Table.Geo.Model < 0.1)
	// Output:
	// held out: 1 of 4 flights held out whole
	// chosen: core linear [8], basis 2, likelihood temperature 0.1
	// early end: false
	// better than every simple predictor: true
	// error below a tenth of holding the last value: true
}
