//go:build cgo

package main

import (
	"math"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
)

// Samples of a robot whose input has lost a third of its effect correct later means, in calls with many questions and with
// one, until they are forgotten.
func TestLearning(t *testing.T) {
	l, err := open("../../estimator/adapt/reference/model.dgm")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states, %d inputs, horizon %v s", l.m.K, l.m.P, l.m.Horizon)
	const dt = 0.01
	robot, err := l.fast.For([]float64{dt})
	if err != nil {
		t.Fatal(err)
	}
	next, x, u := robot.NewPrediction(), []float64{0.3, 0}, []float64{0}
	for i := range 6000 {
		u[0] = 1.5*math.Sin(0.031*float64(i)) + math.Sin(0.11*float64(i))
		if err := l.learn(int64(float64(i)*dt*1e9), x, u); err != nil {
			t.Fatal(err)
		}
		if !robot.Predict(next, &estimator.Query{X0: x, U: []float64{0.67 * u[0]}}) {
			t.Fatal("not finite")
		}
		copy(x, next.Mean)
	}
	amounts := l.amounts()
	gain := 0.0
	for _, a := range amounts {
		if strings.HasPrefix(a.Name, "gain") {
			gain = a.Value
		}
	}
	if gain > -15 || gain < -50 {
		t.Errorf("a gain of -33 %% is learned as %v of %v", gain, amounts)
	}
	T := len(l.times())
	ask := func(questions int) []float64 {
		q, a := &query{want: wantMean, planRows: 1, workers: 1}, &answer{}
		for range questions {
			q.states, q.plans = append(q.states, 0.2, 0.1), append(q.plans, 1)
		}
		a.mean = make([]float64, questions*T*2)
		if err := l.predict(q, a); err != nil {
			t.Fatal(err)
		}
		return a.mean[(T-1)*2 : T*2]
	}
	at := func(u float64) []float64 {
		p := l.fast.NewPrediction()
		l.fast.Predict(p, &estimator.Query{X0: []float64{0.2, 0.1}, Plan: []float64{u}})
		return p.Mean[(T-1)*2:]
	}
	whole, lost := at(1), at(0.67)
	for _, n := range []int{1, 40} {
		for k, v := range ask(n) {
			if away := math.Abs(v-lost[k]) / math.Abs(whole[k]-lost[k]); away > 0.5 {
				t.Errorf("%d questions: state %d is %v; %v before, %v of the robot", n, k, v, whole[k], lost[k])
			}
		}
	}
	l.forget()
	for k, v := range ask(1) {
		if math.Abs(v-whole[k]) > 1e-9 {
			t.Errorf("state %d is %v after all was forgotten, and was %v", k, v, whole[k])
		}
	}
	for name, err := range map[string]error{"two numbers": l.learn(1, []float64{1}, u), "not a number": l.learn(1, []float64{math.NaN(), 0}, u)} {
		if err == nil {
			t.Errorf("%s are learned from", name)
		}
	}
	if err := l.learn(5, x, u); err != nil {
		t.Error(err)
	}
	if err := l.learn(5, x, u); err == nil {
		t.Error("the same time twice is learned from")
	}
}
