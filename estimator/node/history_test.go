package node

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node/internal/recording"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// reading is the pendulum with a history of four rows over 100 ms.
func reading() *model.Model {
	return readingOf(1, 1)
}

func readingOf(horizon float64, seed uint64) *model.Model {
	return artificial.New(artificial.Size{
		K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: horizon, History: []float64{0.01, 0.02, 0.05, 0.1},
	}, seed)
}

// reference predicts from a state with the history of the samples before it, and without.
func reference(t *testing.T, m *model.Model, past []wire.State, q estimator.Query) (with, without *estimator.Prediction) {
	t.Helper()
	p, err := estimator.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	without, with = p.NewPrediction(), p.NewPrediction()
	b, rows := history.NewBuffer(m.Channels[:m.K], m.P, m.History), make([]float64, m.History.Rows()*(m.K+m.P))
	for _, s := range past {
		b.Add(s.T, s.X, s.U)
	}
	now := past[len(past)-1]
	if n := b.Fill(rows, now.T, q.X0); n != m.History.Rows() || !p.Predict(without, &q) {
		t.Fatalf("%d rows", n)
	}
	q.History = rows
	if !p.Predict(with, &q) || near(with.Mean, without.Mean, 1e-3) {
		t.Fatal("the history changes nothing")
	}
	return with, without
}

func TestPredictionsReadTheHistoryOfTheStream(t *testing.T) {
	n, c, nc, predictions := offlineWith(t, Config{RobotClock: true}, reading())
	var past []wire.State
	for i := range uint64(20) {
		c.pass(10 * ms)
		past = append(past, c.arrive(n, i+1, 0, math.Sin(float64(i)/3), math.Cos(float64(i)/4)))
		n.worker.answer(nc, n.intake.Mailbox.Get())
		p := predictions.prediction()
		if i == 19 {
			with, _ := reference(t, reading(), past, estimator.Query{X0: past[19].X, U: past[19].U})
			if !near(p.Mean, with.Mean, 1e-4) || !near(p.Std, with.Std, 1e-4) {
				t.Errorf("predicted %v, want %v", p.Mean, with.Mean)
			}
		}
	}
}

// A replay makes the same predictions from the states of the journal, those between two
// ticks among them, over gaps and another model.
func TestReplayHasTheSameHistory(t *testing.T) {
	for _, rate := range []float64{0, 100} {
		path := filepath.Join(t.TempDir(), "out.msgpack")
		n, c, nc, _ := offlineWith(t, Config{Rate: rate, AgeLimit: 200 * time.Millisecond, Record: path}, reading())
		var err error
		if n.worker.recorder, err = recording.New(path, n.models.settings, 0); err != nil {
			t.Fatal(err)
		}
		n.worker.recorder.Model(n.worker.engine.Loaded)
		for i := range uint64(200) {
			c.pass(10 * ms)
			s := wire.State{Seq: i + 1, T: c.unix - int64(i%7)*ms, X: []float64{math.Sin(float64(i) / 9), math.Cos(float64(i) / 5)}}
			switch i % 4 {
			case 1:
				s.U = []float64{0.2}
			case 2:
				s.Plan = []float64{0.1, 0.2, 0.3}
			}
			if i%90 < 80 {
				n.intake.Receive(s.Append(nil), 0)
			}
			if i == 120 {
				if err := n.Swap(readingOf(1, 9)); err != nil {
					t.Fatal(err)
				}
			}
			if rate == 0 {
				if a := n.intake.Mailbox.Get(); a != nil {
					n.worker.answer(nc, a)
				}
			} else if i%3 == 2 {
				n.worker.tick(nc, i+1, c.steady)
			}
		}
		if err := n.worker.recorder.Close(); err != nil {
			t.Fatal(err)
		}
		sum, err := replayed(t, path, ReplayConfig{})
		if err != nil || sum.Models != 2 || sum.States < 160 || sum.Predictions < 60 {
			t.Errorf("rate %g: %+v, %v", rate, sum, err)
		}
		states := 0
		less := rewrite(t, path, func(_ int, k journal.Kind) bool {
			if k == journal.KindState {
				states++
			}
			return k != journal.KindState || states != 31
		})
		var d *Difference
		if sum, err := Replay(bytes.NewReader(less), "less", ReplayConfig{}); !errors.As(err, &d) {
			t.Errorf("rate %g, without a state: %+v, %v", rate, sum, err)
		}
	}
}

// At a fixed rate the states between two ticks are history, too.
func TestStatesBetweenTicksAreHistory(t *testing.T) {
	n, c, nc, predictions := offlineWith(t, Config{Rate: 10, RobotClock: true}, reading())
	for i := range uint64(40) {
		c.pass(10 * ms)
		c.arrive(n, i+1, 0, 0.1*float64(i), 0)
		if i%8 != 7 { // ticks are farther apart than a gap
			continue
		}
		n.worker.tick(nc, i+1, c.steady)
		if p := predictions.prediction(); p.Flags&wire.NoHistory != 0 != (i < 10) {
			t.Errorf("state %d: flags %#x", i, p.Flags)
		}
	}
	n.status.snapshot.request(false)
	n.status.snapshot.update(n.worker.engine, n.cfg.Clock)
	s := n.compose(0)
	if s.History != 4 || s.NoHistory != 1 || s.HistoryGaps != 0 || s.Used != 5 || counts(s)["replaced"] != 35 {
		t.Errorf("status %+v", s)
	}
}

// A refused state is no history, and neither is one before a gap.
func TestRefusedStatesAreNotHistory(t *testing.T) {
	n, c, nc, predictions := offlineWith(t, Config{RobotClock: true}, reading())
	seq := uint64(0)
	next := func(after int64) wire.Flags {
		t.Helper()
		c.pass(after)
		seq++
		c.arrive(n, seq, 0, 0.1, 0)
		c.arrive(n, seq, 0, 0.1, 0)            // the same again
		c.arrive(n, seq-1, 20*ms, 0.3, 0)      // a late one
		c.arrive(n, seq+1, -ms, math.NaN(), 0) // no number
		n.worker.answer(nc, n.intake.Mailbox.Get())
		return predictions.prediction().Flags & wire.NoHistory
	}
	for i := range 15 {
		if got := next(10 * ms); got != 0 != (i < 10) {
			t.Errorf("state %d: flag %v", i, got)
		}
	}
	if next(100*ms) == 0 {
		t.Error("no flag after a gap")
	}
	n.status.snapshot.request(false)
	n.status.snapshot.update(n.worker.engine, n.cfg.Clock)
	if s := n.compose(0); s.HistoryGaps != 1 || s.HistoryBackward != 0 || s.NoHistory != 11 {
		t.Errorf("status: %d gaps, %d backward, %d without", s.HistoryGaps, s.HistoryBackward, s.NoHistory)
	}
}

func TestQueriesBringTheirHistory(t *testing.T) {
	for _, rate := range []float64{0, 200} {
		nc := connect(t, serve(t, 0).ClientURL(), nil)
		m := readingOf(100, 1) // for which a state that waits on a busy computer is not old
		run(t, nc, Config{Rate: rate, RobotClock: true, Clock: SystemClock()}, m)
		predictions := listen(t, nc, wire.AllPredictions)
		n := 12
		var at, x, u []float64
		for i := range n {
			at = append(at, 0.01*float64(i+1-n))
			x, u = append(x, 0.1, 0.2), append(u, 0.3)
		}
		one := []float64{0.3, -0.1}
		for name, c := range map[string]struct {
			q    wire.Query
			want int // questions without all the history
		}{
			"none":          {wire.Query{States: one}, 1},
			"samples":       {wire.Query{States: one, HistoryT: at, HistoryX: x, HistoryU: u}, 0},
			"too few":       {wire.Query{States: one, HistoryT: at[3:], HistoryX: x[6:], HistoryU: u[3:]}, 1},
			"one for all":   {wire.Query{States: []float64{1, 2, 3, 4}, HistoryT: at, HistoryX: x, HistoryU: u}, 0},
			"one for each":  {wire.Query{States: []float64{1, 2, 3, 4}, HistoryT: at, HistoryX: append(x, x...), HistoryU: u}, 0},
			"of one state":  {wire.Query{States: one, HistoryT: at, HistoryX: append(x, x...), HistoryU: append(u, u...)}, 0},
			"not dynamics'": {wire.Query{States: one, Want: wire.WantDynamics}, 0},
		} {
			if a, refused := ask(t, nc, c.q.Append(nil)); refused != "" || a.NoHistory != c.want {
				t.Errorf("%s: %+v, %s", name, a, refused)
			}
		}
		for want, q := range map[string]wire.Query{
			"history: is \"chance\"":                       {History: "chance"},
			"history: is that of the stream, and samples":  {History: wire.HistoryOfStream, HistoryT: at, HistoryX: x, HistoryU: u},
			"history_t: is missing":                        {HistoryX: x},
			"history_u: is missing":                        {HistoryT: at, HistoryX: x},
			"history_t: must ascend":                       {HistoryT: []float64{0, -1}, HistoryX: x[:4], HistoryU: u[:2]},
			"history_t: must ascend to at most 0 s, and 0": {HistoryT: []float64{-1, 0.1}, HistoryX: x[:4], HistoryU: u[:2]},
			"history_t: must ascend to at most 0 s, and N": {HistoryT: []float64{math.NaN()}, HistoryX: x[:2], HistoryU: u[:1]},
			"history_t: must ascend to at most 0 s, and -": {HistoryT: []float64{math.Inf(-1)}, HistoryX: x[:2], HistoryU: u[:1]},
			"history_x: has 23 numbers":                    {HistoryT: at, HistoryX: x[1:], HistoryU: u},
			"history_u: has 11 numbers":                    {HistoryT: at, HistoryX: x, HistoryU: u[1:]},
			"history_x: element 0":                         {HistoryT: []float64{0}, HistoryX: []float64{math.NaN(), 0}, HistoryU: u[:1]},
			"history_x: 3 of them, and others are 2":       {States: []float64{1, 2, 3, 4}, HistoryT: []float64{0}, HistoryX: x[:6], HistoryU: u[:1]},
			"history_t: 10001 numbers":                     {HistoryT: make([]float64, wire.MaxHistory+1)},
		} {
			if q.States == nil {
				q.States = one
			}
			if _, got := ask(t, nc, q.Append(nil)); !strings.HasPrefix(got, "400: "+want) {
				t.Errorf("refused with %q, want %q", got, want)
			}
		}
		q := wire.Query{States: one, History: wire.HistoryOfStream}
		if a, refused := ask(t, nc, q.Append(nil)); refused != "" || a.NoHistory != 1 {
			t.Errorf("before the first state: %+v, %s", a, refused)
		}
		for i := range uint64(12) {
			s := wire.State{Seq: i + 1, T: int64(i) * 10 * ms, X: []float64{0.1, -0.2}, U: []float64{0.3}}
			if err := nc.Publish(wire.StateSubject("v1"), s.Append(nil)); err != nil {
				t.Fatal(err)
			}
			for predictions.prediction().Seq <= i {
			}
		}
		var past []wire.State
		for i := range n {
			past = append(past, wire.State{T: int64(i) * 10 * ms, X: []float64{0.1, -0.2}, U: []float64{0.3}})
		}
		with, without := reference(t, m, past, estimator.Query{X0: one})
		a, refused := ask(t, nc, q.Append(nil))
		if refused != "" || a.NoHistory != 0 || !near(a.Mean, with.Mean, 1e-4) {
			t.Errorf("of the stream: %+v, %s", a, refused)
		}
		q.History = ""
		if a, refused = ask(t, nc, q.Append(nil)); refused != "" || !near(a.Mean, without.Mean, 1e-4) {
			t.Errorf("without history: %+v, %s", a, refused)
		}
		q.HistoryT = at
		for range n {
			q.HistoryX, q.HistoryU = append(q.HistoryX, 0.1, -0.2), append(q.HistoryU, 0.3)
		}
		if a, refused = ask(t, nc, q.Append(nil)); refused != "" || !near(a.Mean, with.Mean, 1e-4) {
			t.Errorf("with the samples of the stream: %+v, %s", a, refused)
		}
	}
}

// A node that has ended replies to nobody who asks for its history.
func TestHistoryOfAWorkerThatHasEnded(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	n, err := New(Config{Vehicle: "v1"}, reading())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Run(ctx, nc); err != nil {
		t.Fatal(err)
	}
	if n.worker.copyHistory(nil, time.Millisecond) {
		t.Error("history of a worker that has ended")
	}
}
