// Command whatif-go shows what a planner asks: where is the robot if its input goes on, and
// where if it is zero? The question brings the states before it, which models may read.
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/nats-io/nats.go"
)

const states, inputs = 2, 1 // of the vehicle

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: whatif-go VEHICLE [URL]")
	}
	vehicle, url := os.Args[1], append(os.Args[2:], nats.DefaultURL)[0]
	nc, err := nats.Connect(url)
	if err != nil {
		log.Fatalf("NATS at %s: %v", url, err)
	}
	sub, err := nc.SubscribeSync(wire.StateSubject(vehicle))
	if err != nil {
		log.Fatal(err)
	}
	var past []wire.State // the last 100 states
	for n := 1; ; n++ {
		m, err := sub.NextMsg(time.Minute)
		if err != nil {
			log.Fatal(err)
		}
		var now wire.State
		if err := now.Decode(m.Data, states, inputs); err != nil {
			log.Fatal(err)
		}
		if past = append(past, now); len(past) > 100 {
			past = past[1:]
		}
		if n%100 == 0 {
			ask(nc, vehicle, past)
		}
	}
}

// ask asks two questions about the last state: one history and one state for both, and an
// input for each.
func ask(nc *nats.Conn, vehicle string, past []wire.State) {
	now := past[len(past)-1]
	q := wire.Query{States: now.X, U: append(now.U, make([]float64, inputs)...)}
	for _, s := range past {
		q.HistoryT = append(q.HistoryT, float64(s.T-now.T)*1e-9)
		q.HistoryX = append(q.HistoryX, s.X...)
		q.HistoryU = append(q.HistoryU, s.U...)
	}
	m, err := nc.Request(wire.QuerySubject(vehicle), q.Append(nil), time.Second)
	if err != nil {
		log.Fatal(err)
	}
	var a wire.Answer
	if err := a.Decode(m.Data); err != nil || len(a.Mean) == 0 {
		log.Fatal("refused: ", m.Header.Get("Nats-Service-Error"))
	}
	each := len(a.Mean) / 2
	for i, what := range []string{"input held", "no input"} {
		end := (i+1)*each - states // the last row
		fmt.Printf("%s, in %g s: %.3f ± %.3f\n", what, a.Horizon[len(a.Horizon)-1], a.Mean[end:end+states], a.Std[end:end+states])
	}
}
