package node

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// While models are swapped as fast as they can be made ready, every state is
// answered, each answer by one model alone: the one that it names.
func TestNothingIsMissingWhileModelsAreSwapped(t *testing.T) {
	s := serve(t, 0)
	a, b := pendulum(), otherPendulum(2)
	n, _ := run(t, connect(t, s.ClientURL(), nil), Config{}, a)
	client := connect(t, s.ClientURL(), nil)
	predictions := listen(t, client, wire.AllPredictions)
	statuses := listen(t, client, wire.AllStatuses)

	var swapped atomic.Int64
	done := make(chan error, 1)
	go func() {
		for i := range 100 {
			m := []*model.Model{otherPendulum(2), pendulum()}[i%2]
			if err := n.Swap(m); err != nil {
				done <- err
				return
			}
			swapped.Add(1)
		}
		done <- nil
	}()
	want := map[string]*estimator.Fast{}
	for _, m := range []*model.Model{a, b} {
		p, err := estimator.NewFast(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		want[m.ID] = p
	}
	answered := map[string]int{}
	var err error
	for seq, running := uint64(1), true; running || seq < 200; seq++ {
		st := send(t, client, seq)
		p := predictions.prediction()
		if p.Seq != seq || want[p.Model] == nil {
			t.Fatalf("seq %d, answered seq %d by model %s", seq, p.Seq, p.Model)
		}
		w := want[p.Model].NewPrediction()
		want[p.Model].Predict(w, &estimator.Query{X0: st.X, U: st.U})
		if !slices.Equal(w.Mean, p.Mean) || !slices.Equal(w.Std, p.Std) {
			t.Fatalf("seq %d: not what model %s predicts", seq, p.Model)
		}
		answered[p.Model]++
		select {
		case err = <-done:
			running = false
		default:
		}
	}
	if err != nil || len(answered) != 2 || swapped.Load() != 100 {
		t.Errorf("%d swaps, answered by %v: %v", swapped.Load(), answered, err)
	}
	statuses.status("100 swaps and nothing dropped", func(s *wire.Status) bool { return s.Swaps == 100 && len(s.Reasons) == 0 && s.Refused == "" })
}

func TestModelsRefused(t *testing.T) {
	n, err := New(Config{Vehicle: "v1"}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	before := n.Model()
	broken := otherPendulum(4)
	p, err := estimator.NewFast(broken, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := p.NewPrediction()
	p.Predict(d, &estimator.Query{X0: []float64{0, 0}})
	check := model.SelfCheck{Readout: model.Hold, X0: []float64{0, 0}, U: []float64{0}, Times: d.Times, Mean: slices.Clone(d.Mean), Std: d.Std, ObsStd: d.ObsStd}
	check.Mean[3] += 0.01
	broken.Checks = []model.SelfCheck{check}
	swapped := otherPendulum(4)
	swapped.Channels[0], swapped.Channels[1] = swapped.Channels[1], swapped.Channels[0]
	for name, c := range map[string]struct {
		m    *model.Model
		part string
	}{
		"other size":     {artificial.New(artificial.Size{K: 3, P: 1, Features: 4, Points: 2, Horizon: 1}, 1), "3 states"},
		"other order":    {swapped, "another order"},
		"self-check off": {broken, "self-check"},
	} {
		if err := n.Swap(c.m); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", name, err)
		}
		st := n.compose(0)
		if n.Model() != before || n.models.next.Load() != nil || !strings.Contains(st.Refused, c.part) || st.Swaps != 0 {
			t.Errorf("%s: model %s, status %q", name, n.Model(), st.Refused)
		}
	}
	short, err := New(Config{Vehicle: "v1", Times: []float64{0.8}}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	if err := short.Swap(artificial.New(artificial.Size{K: 2, P: 1, Features: 4, Points: 2, Horizon: 0.5}, 1)); err == nil {
		t.Error("a model that does not reach the times was taken")
	}
}

func TestOffersAreVerified(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	n, err := New(Config{Vehicle: "v1", Accept: model.Acceptance{Key: key.Public().(ed25519.PublicKey)}}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	file, err := otherPendulum(3).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Offer(file); err == nil || n.models.next.Load() != nil {
		t.Errorf("unsigned: %v", err)
	}
	signed, err := model.Sign(file, key, model.Statement{Vehicle: "v1", Sequence: 1})
	if err != nil {
		t.Fatal(err)
	}
	trained := otherPendulum(4)
	trained.Provenance.DataHash = "00"
	unsealed, err := trained.Encode()
	if err == nil {
		unsealed, err = model.Sign(unsealed, key, model.Statement{Vehicle: "v1", Sequence: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Offer(unsealed); !errors.Is(err, model.ErrUnsealed) || n.models.next.Load() != nil {
		t.Errorf("without self-checks: %v", err)
	}
	id, err := n.Offer(signed)
	if err != nil || id != n.Model() || n.models.next.Load() == nil {
		t.Errorf("signed: %v", err)
	}
}

// Whoever may send commands cannot fill the disk with lines of a log.
func TestFailedCommandsDoNotFloodTheLog(t *testing.T) {
	var logged lines
	n, err := New(Config{Vehicle: "v1", Log: logged.add}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		for _, data := range [][]byte{
			(&wire.Command{Action: wire.Rollback}).Append(nil), (&wire.Command{Action: fmt.Sprint("fly ", i)}).Append(nil), []byte("no command"),
		} {
			n.receiveCommand(&nats.Msg{Data: data})
		}
		n.receivePeer((&wire.Status{Vehicle: "v1", Instance: fmt.Sprint(i)}).Append(nil))
	}
	if len(logged.lines) > 100 || !logged.has("there is no previous model") || !logged.has("is unknown") {
		t.Errorf("%d lines are logged, the last %q", len(logged.lines), logged.lines[len(logged.lines)-1])
	}
}

func TestRollbackByOneMessage(t *testing.T) {
	s := serve(t, 0)
	m := pendulum()
	n, _ := run(t, connect(t, s.ClientURL(), nil), Config{}, m)
	client := connect(t, s.ClientURL(), nil)
	predictions := listen(t, client, wire.AllPredictions)
	command := func(c wire.Command) (o wire.Outcome) {
		r, err := client.Request(wire.ModelSubject("v1"), c.Append(nil), patience)
		if err == nil {
			err = o.Decode(r.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := command(wire.Command{Action: wire.Rollback}); o.Error == "" || o.Model != m.ID {
		t.Errorf("rolled back to nothing: %+v", o)
	}
	if o := command(wire.Command{Action: "fly"}); !strings.Contains(o.Error, "unknown") {
		t.Errorf("an unknown action: %+v", o)
	}
	other := otherPendulum(2)
	if err := n.Swap(other); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{other.ID, m.ID, other.ID} {
		if i > 0 {
			if o := command(wire.Command{Action: wire.Rollback}); o.Error != "" || o.Model != want {
				t.Errorf("rolled back to %+v, want %s", o, want)
			}
		}
		send(t, client, uint64(i+1))
		if p := predictions.prediction(); p.Model != want {
			t.Errorf("answered by %s, want %s", p.Model, want)
		}
	}
}
