// Command mpc-go plans inputs that bring a robot's states to zero, as model predictive control
// does: every 50 states it improves its plan by Gauss-Newton steps, each on the means and derivatives
// that one query asks for, and prints what it would command.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/examples/mpc-go/planning"
	"github.com/nats-io/nats.go"
)

const rows = 10 // of a plan, over the horizon

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: mpc-go VEHICLE [URL]; dgm-estimator status lists the vehicles")
	}
	vehicle, url := os.Args[1], append(os.Args[2:], nats.DefaultURL)[0]
	nc, err := nats.Connect(url)
	if err != nil {
		log.Fatalf("NATS at %s: %v", url, err)
	}
	var info wire.ModelInfo
	if err := info.Decode(request(nc, vehicle, &wire.Query{Want: wire.WantModel})); err != nil {
		log.Fatal(err)
	}
	sub, err := nc.SubscribeSync(wire.StateSubject(vehicle))
	if err != nil {
		log.Fatal(err)
	}
	K, P := len(info.Channels), len(info.InputChannels)
	planner := planning.New(config(K, P), func(dst *planning.Prediction, x, plan []float64) bool {
		return predict(nc, &info, dst, x, plan)
	})
	for n := 1; ; n++ {
		m, err := sub.NextMsg(time.Minute)
		if err != nil {
			log.Fatal(err)
		}
		var now wire.State
		if err := now.Decode(m.Data, K, P); err != nil {
			log.Fatal(err)
		}
		if n%50 == 0 {
			began := time.Now()
			planner.Improve(now.X, make([]float64, rows*K))
			end := planner.Prediction().Mean[(rows-1)*K:]
			fmt.Printf("at %.3f: command %.3f, in %g s at %.3f; planned in %s\n", now.X, planner.Plan[:P], info.ModelHorizon, end, time.Since(began).Round(time.Millisecond/10))
		}
	}
}

// config weighs all states alike, and holds inputs within ±1.
func config(K, P int) planning.Config {
	c := planning.Config{K: K, P: P, T: rows, R: rows, Rest: make([]float64, P), Steps: 3}
	for range K {
		c.State = append(c.State, 1)
	}
	for range P {
		c.Input, c.Low, c.High = append(c.Input, 0.01), append(c.Low, -1), append(c.High, 1)
	}
	return c
}

// predict asks about a plan, and for the derivatives by it where they are wanted.
func predict(nc *nats.Conn, info *wire.ModelInfo, dst *planning.Prediction, x, plan []float64) bool {
	q := wire.Query{Want: wire.WantMean + "," + wire.WantStd, States: x, Plans: plan, Rows: rows, PlanDt: info.ModelHorizon / rows, History: wire.HistoryOfStream}
	if len(dst.ByPlan) > 0 {
		q.Want += "," + wire.WantJacobian
	}
	for i := range rows {
		q.Times = append(q.Times, info.ModelHorizon*float64(i+1)/rows)
	}
	var a wire.Answer
	if err := a.Decode(request(nc, info.Vehicle, &q)); err != nil {
		log.Fatal(err)
	}
	copy(dst.Mean, a.Mean)
	copy(dst.Std, a.Std)
	copy(dst.ByPlan, a.InputJacobian)
	return true
}

// request returns the answer to a query.
func request(nc *nats.Conn, vehicle string, q *wire.Query) []byte {
	m, err := nc.Request(wire.QuerySubject(vehicle), q.Append(nil), time.Second)
	if errors.Is(err, nats.ErrNoResponders) {
		log.Fatalf("no estimator answers for the vehicle %q; dgm-estimator status --nats %s lists those that run", vehicle, nc.ConnectedUrl())
	}
	if err != nil {
		log.Fatal(err)
	}
	if text := m.Header.Get("Nats-Service-Error"); text != "" {
		log.Fatal("refused: ", text)
	}
	return m.Data
}
