// Command planner-go shows what a planner does with predictions.
package main

import (
	"fmt"
	"os"

	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/nats-io/nats.go"
)

func main() {
	nc, err := nats.Connect(os.Args[1]) // nats://127.0.0.1:4222
	if err != nil {
		panic(err)
	}
	var p wire.Prediction
	_, err = nc.Subscribe(wire.AllPredictions, func(m *nats.Msg) {
		if p.Decode(m.Data) == nil {
			last := len(p.Horizon) - 1 // rows are times, columns are channels
			for k, name := range p.Channels {
				i := last*len(p.Channels) + k
				fmt.Printf("%s %s in %g s: %.3f ± %.3f %s, warnings %#x\n", p.Vehicle, name, p.Horizon[last], p.Mean[i], p.Std[i], p.Units[k], p.Flags&wire.Warnings)
			}
		}
	})
	fmt.Println("listening", err)
	select {}
}
