package reporting

import (
	"errors"
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

func TestQuantilesOfAnInterval(t *testing.T) {
	var l latency
	var scratch [4096]int64
	if p50, p99, most := l.reset(&scratch); p50 != 0 || p99 != 0 || most != 0 {
		t.Errorf("of nothing: %v, %v, %v", p50, p99, most)
	}
	l.add(1e9) // forgotten but for the maximum
	for i := range 4096 {
		l.add(int64(i) * 1000)
	}
	if p50, p99, most := l.reset(&scratch); math.Abs(p50-2048e-6) > 1e-12 || math.Abs(p99-4055e-6) > 1e-12 || most != 1 {
		t.Errorf("quantiles %v and %v, maximum %v", p50, p99, most)
	}
	if _, _, most := l.reset(&scratch); most != 0 {
		t.Errorf("in the next interval %v", most)
	}
}

// What the client library drops is received too, and counted once.
func TestEveryStateIsAccountedFor(t *testing.T) {
	var c Counters
	for range 5 {
		c.Receive()
	}
	c.Publish(1, wire.Late|wire.Widened, 1, 1, 1)
	c.Refuse(wire.Replaced, nil)
	c.RefuseFor(&wire.Error{Reason: wire.NotANumber, Field: "x", Text: "element 0 is NaN"})
	c.RefuseFor(errors.New("cut off"))
	c.Refuse(wire.Replaced, nil)
	c.Drop(3)
	c.Drop(7)
	n := c.Counts()
	sum := n.Published
	for _, r := range n.Reasons {
		sum += r
	}
	if n.Received != 12 || sum != 12 || n.Late != 1 || n.Widened != 1 || n.Shortened != 0 {
		t.Errorf("counted %+v", n)
	}
	if got, want := c.Unused(), "1 malformed, 1 nan, 2 replaced, 7 flooded"; got != want {
		t.Errorf("not used: %s, want %s", got, want)
	}
}

// The reason of a status is the one for which most states were refused since one was
// accepted; what becomes of accepted states is no refusal.
func TestTheReasonOfMostRefusals(t *testing.T) {
	c := &Counters{}
	r := New(wire.Status{}, 1, c, NewPeers("me", 100))
	refuse := func(reason wire.Reason, states int) {
		for range states {
			c.RefuseFor(&wire.Error{Reason: reason})
		}
	}
	for i, v := range []struct {
		act    func()
		reason string
		states uint64
	}{
		{func() {}, "", 0},
		{func() { refuse(wire.WrongSize, 9) }, "size", 9},
		{func() { c.Accept(Accepted{}, 1); c.Refuse(wire.Disconnected, nil) }, "", 0},
		{func() { refuse(wire.WrongSize, 1); refuse(wire.WrongLayout, 2) }, "layout", 2},
	} {
		v.act()
		if r.Compose(1); r.Status.InputReason != v.reason || r.Status.InputRefused != v.states {
			t.Errorf("step %d: %d refused for %q, want %d for %q", i, r.Status.InputRefused, r.Status.InputReason, v.states, v.reason)
		}
	}
}

func TestPeersAreForgotten(t *testing.T) {
	p := NewPeers("me", 100)
	status := func(instance string) []byte {
		return (&wire.Status{Vehicle: "v1", Instance: instance, Model: "m"}).Append(nil)
	}
	for i, c := range []struct {
		instance string
		newcomer string
	}{{"me", ""}, {"you", "you"}, {"you", ""}, {"they", "they"}} {
		if got := p.Receive(status(c.instance), int64(i)*50); got != c.newcomer {
			t.Errorf("status %d: %q is new, want %q", i, got, c.newcomer)
		}
	}
	if all := p.report(nil, 210); len(all) != 1 || all[0].Instance != "they" || !p.Contested() {
		t.Errorf("after 210 ns: %+v", all)
	}
	if all := p.report(nil, 251); len(all) != 0 || p.Contested() {
		t.Errorf("after 251 ns: %+v", all)
	}
}
