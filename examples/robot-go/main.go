// Command robot-go shows a robot's side: it sends its states to an estimator.
//
//	dgm-estimator --model flight.dgm --vehicle v1
//	go run ./examples/robot-go [nats://127.0.0.1:4222] [v1]
package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/nats-io/nats.go"
)

const rate = 200 // Hz

// sensors returns what is measured: all states of the model in their order, or those that have a
// sensor. Put your own reading here; this is an encoder at a simulated pendulum.
var sensors = func() func() []float64 {
	angle, speed := 1.3, 0.0 // rad from hanging, rad/s
	return func() []float64 {
		for range 10 {
			speed -= 55 * math.Sin(angle) / (10 * rate)
			angle += speed / (10 * rate)
		}
		return []float64{math.Pi + angle + 0.01*rand.NormFloat64()}
	}
}()

func main() {
	url, vehicle := nats.DefaultURL, "v1"
	for i, to := range []*string{&url, &vehicle} {
		if len(os.Args) > i+1 {
			*to = os.Args[i+1]
		}
	}
	nc, err := nats.Connect(url)
	if err != nil {
		log.Fatalf("NATS at %s: %v", url, err)
	}
	_, err = nc.Subscribe(wire.PredictSubject(vehicle), func(m *nats.Msg) {
		if p := new(wire.Prediction); p.Decode(m.Data) == nil && p.Seq%rate == 0 {
			last := len(p.Mean) - len(p.Channels)
			fmt.Printf("in %g s: %s %.3f ± %.3f %s\n", p.Horizon[len(p.Horizon)-1], p.Channels[0], p.Mean[last], p.Std[last], p.Units[0])
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	tick := time.NewTicker(time.Second / rate)
	var state wire.State
	for at := range tick.C { // when it was measured: 5 ms too late is 0.04 rad wrong at 8 rad/s
		state.Seq++
		state.T, state.X = at.UnixNano(), sensors()
		if err := nc.Publish(wire.StateSubject(vehicle), state.Append(nil)); err != nil {
			log.Fatal(err)
		}
	}
}
