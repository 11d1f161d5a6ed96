package node

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/recording"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// twoSensors is the pendulum with history whose angle and rate are measured by sensors of their own.
func twoSensors() *model.Model {
	m := unmeasured()
	m.Channels[1].Estimated = false
	m.Filter.R[1], m.Filter.Chains[0].Settled = 4e-4, 0
	m.Filter.Usual = []float64{1e-4, 0, 0, 4e-4}
	return m
}

// sensing sends an angle at 20 Hz, which comes some time after it was measured, and a rate with the input at 200 Hz.
type sensing struct {
	n     *Node
	c     *clock
	sent  uint64
	seq   [2]uint64
	late  []wire.State
	apart int64   // ns, clock of the encoder less that of the gyroscope
	delay int64   // ns, of the encoder
	blind bool    // the encoder is silent
	noise float64 // standard deviation of the gyroscope
}

// step lets 5 ms pass and calls each after every state that arrives.
func (r *sensing) step(each func(s *wire.State)) {
	r.c.pass(5 * ms)
	r.sent++
	receive := func(s wire.State) {
		r.n.intake.Receive(s.Append(nil), 0)
		each(&s)
	}
	at := func(t float64) (angle, rate float64) {
		return math.Remainder(2.5+1.5*math.Sin(3*t), 2*math.Pi), 4.5 * math.Cos(3*t)
	}
	now := 0.005 * float64(r.sent)
	nan := math.NaN()
	if r.sent%10 == 0 && !r.blind {
		angle, _ := at(now)
		r.seq[0]++
		r.late = append(r.late, wire.State{Sensor: "encoder", Seq: r.seq[0], T: r.c.unix + r.apart, X: []float64{angle, nan}})
	}
	_, rate := at(now)
	rate += r.noise * rand.New(rand.NewPCG(1, r.sent)).NormFloat64()
	r.seq[1]++
	receive(wire.State{Sensor: "gyro", Seq: r.seq[1], T: r.c.unix, X: []float64{nan, rate}, U: []float64{0.3}})
	if len(r.late) > 0 && r.c.unix+r.apart-r.late[0].T >= r.delay {
		s := r.late[0]
		r.late = r.late[1:]
		receive(s)
	}
}

// Two sensors of one vehicle, each with its sequence, its rate, its delay and perhaps its clock, give one estimate: each
// message of the one that sends inputs is answered, none of the other is, nothing is taken for a second robot, and copies
// of messages are found.
func TestSensorsApart(t *testing.T) {
	for _, apart := range []int64{0, -7_000_000 * ms} {
		n, c, nc, predictions := offlineWith(t, Config{RobotClock: true}, twoSensors())
		estimates := listen(t, nc, wire.AllEstimates)
		r := sensing{n: n, c: c, apart: apart, delay: 34 * ms}
		if apart != 0 {
			r.delay = 4 * ms // of another clock it is not known
		}
		worst := 0.0
		var again []byte
		for range 600 {
			r.step(func(s *wire.State) {
				a := n.intake.Mailbox.Get()
				if a == nil {
					t.Fatalf("%s %d is refused: %v", s.Sensor, s.Seq, counts(n.compose(0)))
				}
				n.worker.answer(nc, a)
				if s.Sensor == "encoder" {
					again = s.Append(again[:0])
				}
				var e wire.Estimate
				if err := e.Decode(<-estimates.msgs); err != nil || e.Seq != s.Seq || e.Sensor != s.Sensor {
					t.Fatalf("%v, the estimate of %s %d is %+v", err, s.Sensor, s.Seq, e)
				}
				if !e.Settled && r.sent < 18 {
					return // the angle is not known yet
				}
				if s.Sensor == "gyro" {
					if p := predictions.prediction(); p.Seq != s.Seq || p.T != s.T {
						t.Fatalf("the prediction of gyro %d has seq %d", s.Seq, p.Seq)
					}
				}
				if e.T != c.unix || !e.Settled || (s.Sensor == "gyro") == math.IsNaN(e.Innovation[1]) {
					t.Fatalf("estimate %+v at %d", e, c.unix)
				}
				if r.sent > 100 {
					now := 0.005 * float64(r.sent)
					worst = math.Max(worst, math.Abs(math.Remainder(e.X[0]-2.5-1.5*math.Sin(3*now), 2*math.Pi)))
				}
			})
		}
		if worst > 0.04 {
			t.Errorf("clock %v: the angle is off by up to %v", time.Duration(apart), worst)
		}
		n.intake.Receive(again, 0)
		if status := n.compose(0); status.Rejected > 0 || status.FilterResets > 1 || counts(status)["duplicate"] != 1 || counts(status)["second_sender"] > 0 || status.Missed > 0 {
			t.Errorf("%d rejected, %d resets, %d missed, reasons %v", status.Rejected, status.FilterResets, status.Missed, counts(status))
		}
	}
}

// Where a sensor falls silent the others go on, and the standard deviations of predictions grow; when it is back they are as before.
func TestASensorFallsSilent(t *testing.T) {
	m := twoSensors()
	m.Filter.R[1], m.Filter.Usual = 0.04, []float64{4e-5, 2e-4, 2e-4, 7e-3}
	n, c, nc, predictions := offlineWith(t, Config{RobotClock: true}, m)
	r := sensing{n: n, c: c, delay: 34 * ms, noise: math.Sqrt(m.Filter.R[1])}
	width := func(steps int) (std float64) {
		for range steps {
			r.step(func(s *wire.State) {
				n.worker.answer(nc, n.intake.Mailbox.Get())
				if s.Sensor == "gyro" && r.sent > 30 {
					std = predictions.prediction().Std[0]
				} else if s.Sensor == "gyro" && r.sent > 17 {
					predictions.prediction()
				}
			})
		}
		return std
	}
	usual := width(400)
	r.blind = true
	blind := width(4000)
	r.blind = false
	if again := width(100); blind < 1.2*usual || again > 1.1*usual {
		t.Errorf("std %v, without the encoder %v, with it %v", usual, blind, again)
	}
}

// Sensors are refused where nothing puts them together, where there are too many, and under names that no log could hold.
func TestSensorsThatAreRefused(t *testing.T) {
	n, c, _, _ := offlineWith(t, Config{RobotClock: true}, reading())
	send := func(n *Node, sensor string, x []float64) bool {
		c.pass(10 * ms)
		n.intake.Receive((&wire.State{Sensor: sensor, Seq: 1, T: c.unix, X: x, U: []float64{0}}).Append(nil), 0)
		return n.intake.Mailbox.Get() != nil
	}
	if send(n, "gyro", []float64{0, 0}) {
		t.Error("a model without filter takes sensors apart")
	}
	n, c, _, _ = offlineWith(t, Config{RobotClock: true}, twoSensors())
	for i := range 20 { // what is refused is no sensor
		if send(n, fmt.Sprintf("k%d", i), []float64{math.NaN(), math.NaN()}) {
			t.Error("nothing is taken")
		}
	}
	for i := range 9 {
		if name := string(rune('a' + i)); send(n, name, []float64{0, 0}) != (i < 8) {
			t.Errorf("sensor %s of eight at most", name)
		}
	}
	if send(n, "\x1b[31m", []float64{0, 0}) || send(n, "a", []float64{math.NaN(), math.NaN()}) {
		t.Error("a name of control characters, or nothing, is taken")
	}
	if got := counts(n.compose(0)); got["malformed"] != 2 || got["nan"] != 21 {
		t.Errorf("reasons %v", got)
	}
}

// A replay of several sensors, some late, makes the same predictions, bit for bit.
func TestReplayOfSensors(t *testing.T) {
	for _, rate := range []float64{0, 100} {
		path := filepath.Join(t.TempDir(), "out.msgpack")
		n, c, nc, _ := offlineWith(t, Config{Rate: rate, AgeLimit: 200 * time.Millisecond, Record: path}, twoSensors())
		var err error
		if n.worker.recorder, err = recording.New(path, n.models.settings, 0); err != nil {
			t.Fatal(err)
		}
		n.worker.recorder.Model(n.worker.engine.Loaded)
		r, tick := sensing{n: n, c: c, delay: 34 * ms}, uint64(0)
		for range 400 {
			r.step(func(*wire.State) {
				if rate == 0 {
					n.worker.answer(nc, n.intake.Mailbox.Get())
				}
			})
			if rate > 0 && r.sent%2 == 0 {
				tick++
				n.worker.tick(nc, tick, c.steady)
			}
		}
		if err := n.worker.recorder.Close(); err != nil {
			t.Fatal(err)
		}
		sum, err := replayed(t, path, ReplayConfig{})
		if want := map[float64]int{0: 380, 100: 190}[rate]; err != nil || sum.States < 435 || sum.Predictions < want {
			t.Errorf("rate %v: %+v, %v", rate, sum, err)
		}
	}
}
