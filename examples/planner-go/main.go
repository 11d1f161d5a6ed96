// Command planner-go shows what a planner does with predictions.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/nats-io/nats.go"
)

func main() {
	url := append(os.Args[1:], nats.DefaultURL)[0] // the argument, else nats://127.0.0.1:4222
	nc, err := nats.Connect(url)
	if err != nil {
		log.Fatalf("NATS at %s: %v", url, err)
	}
	fmt.Println("listening at", url)
	nc.Subscribe(wire.AllPredictions, func(m *nats.Msg) {
		if p := new(wire.Prediction); p.Decode(m.Data) == nil {
			for k, name := range p.Channels {
				i := len(p.Mean) - len(p.Channels) + k // the last row; rows are times, columns are channels
				fmt.Printf("%s %s in %g s: %.3f ± %.3f %s, warnings %#x\n", p.Vehicle, name, p.Horizon[len(p.Horizon)-1], p.Mean[i], p.Std[i], p.Units[k], p.Flags&wire.Warnings)
			}
		}
	})
	select {}
}
