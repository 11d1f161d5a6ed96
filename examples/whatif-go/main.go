// Command whatif-go shows what a planner asks: where is the robot if its input goes on, and
// where if it ends halfway? It learns the model first, and the question brings the states
// before it, which models may read.
//
// VEHICLE is the name in the subjects dgm.state.<vehicle>: dgm-estimator --vehicle, or else the
// model's; that of dgm-demo is its --system. dgm-estimator status --nats URL lists all.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/nats-io/nats.go"
)

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: whatif-go VEHICLE [URL]; dgm-estimator status lists the vehicles")
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
	var past []wire.State // the last 100 states
	for n := 1; ; n++ {
		m, err := sub.NextMsg(time.Minute)
		if err != nil {
			log.Fatal(err)
		}
		var now wire.State
		if err := now.Decode(m.Data, len(info.Channels), len(info.InputChannels)); err != nil {
			log.Fatal(err)
		}
		if past = append(past, now); len(past) > 100 {
			past = past[1:]
		}
		if n%100 == 0 {
			ask(nc, &info, past)
		}
	}
}

// ask asks about two plans from the last state, with one history for both.
func ask(nc *nats.Conn, info *wire.ModelInfo, past []wire.State) {
	now := past[len(past)-1]
	on, off := now.U, make([]float64, len(now.U))
	q := wire.Query{
		States: now.X, Plans: slices.Concat(on, on, on, off), // two plans of two rows
		Rows: 2, PlanDt: info.ModelHorizon / 2,
	}
	for _, s := range past {
		q.HistoryT = append(q.HistoryT, float64(s.T-now.T)*1e-9)
		q.HistoryX = append(q.HistoryX, s.X...)
		q.HistoryU = append(q.HistoryU, s.U...)
	}
	var a wire.Answer
	if err := a.Decode(request(nc, info.Vehicle, &q)); err != nil {
		log.Fatal(err)
	}
	K, each := len(a.Channels), len(a.Mean)/2
	for i, what := range []string{"input goes on", "input ends halfway"} {
		end := (i+1)*each - K // the last row
		fmt.Printf("%s, in %g s: %.3f ± %.3f\n", what, a.Horizon[len(a.Horizon)-1], a.Mean[end:end+K], a.Std[end:end+K])
	}
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
