package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// batchSize is how many what-if plans are asked about.
const batchSize = 64

// measureBatch asks an estimator over loopback NATS about as many plans, one by one
// and in one message, and returns the processor's time for one question each way, of
// server, estimator and planner together, the least of some rounds. The answers must be
// the same numbers.
func measureBatch(m *model.Model) (alone, together time.Duration, err error) {
	t, end, err := flying(m)
	defer end(&err)
	if err != nil {
		return 0, 0, err
	}
	nc, err := t.link(t.url(), "planner")
	if err != nil {
		return 0, 0, err
	}
	// At 50 points and in single precision, so that the answer fits into one message.
	all := wire.Query{States: make([]float64, m.K), Rows: 10, Timeout: int64(time.Minute), Dtype: "f4"}
	const points = 50
	for i := range points {
		all.Times = append(all.Times, m.Horizon*float64(i+1)/points)
	}
	if m.P > 0 {
		for i := range batchSize * all.Rows * m.P {
			all.Plans = append(all.Plans, m.Inputs.InputMean[i%m.P]+0.5*m.Inputs.InputStd[i%m.P]*float64(i/m.P%7-3)/3)
		}
	} else {
		all.States = make([]float64, batchSize*m.K)
		for i := range all.States {
			all.States[i] = 0.1 * m.Scale[i%m.K] * float64(i%5)
		}
	}
	for end := time.Now().Add(goneFor); ; { // it may not listen yet
		if _, err = question(nc, &all); err == nil || time.Now().After(end) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		return 0, 0, err
	}
	for range 10 {
		began := busy()
		whole, err := question(nc, &all)
		if err != nil {
			return 0, 0, err
		}
		if d := (busy() - began) / batchSize; together == 0 || d < together {
			together = d
		}
		began = busy()
		var mean, std []float64
		for i := range batchSize {
			one := all
			if m.P > 0 {
				n := all.Rows * m.P
				one.Plans = all.Plans[i*n : (i+1)*n]
			} else {
				one.States = all.States[i*m.K : (i+1)*m.K]
			}
			a, err := question(nc, &one)
			if err != nil {
				return 0, 0, err
			}
			mean, std = append(mean, a.Mean...), append(std, a.Std...)
		}
		if d := (busy() - began) / batchSize; alone == 0 || d < alone {
			alone = d
		}
		if !slices.Equal(mean, whole.Mean) || !slices.Equal(std, whole.Std) {
			return 0, 0, fmt.Errorf("questions in one message are answered otherwise than one by one")
		}
	}
	return alone, together, nil
}

// question asks once.
func question(nc *nats.Conn, q *wire.Query) (*wire.Answer, error) {
	msg, err := nc.Request(wire.QuerySubject(vehicle), q.Append(nil), 10*time.Second)
	if err != nil {
		return nil, fmt.Errorf("asking for predictions: %w", err)
	}
	if code := msg.Header.Get("Nats-Service-Error-Code"); code != "" {
		return nil, fmt.Errorf("a question was refused: %s", msg.Header.Get("Nats-Service-Error"))
	}
	a := new(wire.Answer)
	return a, a.Decode(msg.Data)
}
