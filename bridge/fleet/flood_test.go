package fleet

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A robot that sends as many statuses as it can, each with much to decode, does not keep those of another one from being heard.
func TestAFloodOfStatuses(t *testing.T) {
	r := secured(t)
	robots, err := Listen(r.as(RoleOperator))
	if err != nil {
		t.Fatal(err)
	}
	defer robots.Close()
	long := wire.Status{Vehicle: "drone-1"}
	for range 100 {
		long.Reasons = append(long.Reasons, wire.ReasonCount{Reason: "x", Text: "y"})
		long.Ages = append(long.Ages, wire.CounterAge{Name: "x"})
		long.Amounts = append(long.Amounts, wire.Amount{Name: "x"})
	}
	const sent = 100_000
	thief, data := r.as(RobotRole("drone-1")), long.Append(nil)
	for range sent {
		if err := thief.Publish(wire.StatusSubject("drone-1"), data); err != nil {
			t.Fatal(err)
		}
	}
	if err := thief.FlushTimeout(time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := r.as(RobotRole("drone-2")).Publish(wire.StatusSubject("drone-2"), (&wire.Status{Vehicle: "drone-2"}).Append(nil)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the status of the other one", func() bool { r := robots.Of("drone-2"); return r.Live() })
	if dropped, err := robots.sub.Dropped(); err != nil || dropped > sent/2 {
		t.Errorf("%d of %d dropped, %v", dropped, sent, err)
	}
}

// What is no status of the vehicle, and comes behind one, replaces nothing; alone it makes nobody known.
func TestWhatIsNoStatusReplacesNone(t *testing.T) {
	ns := serve(t, Settings{})
	nc := connect(t, ns)
	robots, err := Listen(connect(t, ns))
	if err != nil {
		t.Fatal(err)
	}
	defer robots.Close()
	send := func(vehicle string, data []byte) {
		if err := nc.Publish(wire.StatusSubject(vehicle), data); err != nil {
			t.Fatal(err)
		}
	}
	send("a", (&wire.Status{Vehicle: "a", Model: "m"}).Append(nil))
	eventually(t, "a status", func() bool { return robots.Of("a").Status.Model == "m" })
	for _, foreign := range [][]byte{nil, []byte("x"), (&wire.Status{Vehicle: "b"}).Append(nil)} {
		send("a", foreign)
		send("c", foreign)
		send("end", (&wire.Status{Vehicle: "end", T: int64(len(foreign)) + 1}).Append(nil))
		eventually(t, "the last one", func() bool { return robots.Of("end").Status.T == int64(len(foreign))+1 })
		if robots.Of("a").Status.Model != "m" || len(robots.Vehicles()) != 2 {
			t.Errorf("%q: %+v, %v", foreign, robots.Of("a").Status, robots.Vehicles())
		}
	}
}

// A part in so many chunks that to read it would take longer than the limit costs its own log: the job goes on without it.
func TestALogOfManyChunks(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	log := described(t, c, func(_ *Log, info *jetstream.ObjectInfo) {
		for ; info.Chunks < 1000; info.Chunks++ { // none has a byte more than the first
			if _, err := c.Logs.js.Publish(t.Context(), "$O."+logObjects+".C."+info.NUID, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
	if _, err := c.Logs.Fetch(t.Context(), "drone-1", log.ID, t.TempDir()); err == nil || Transient(err) {
		t.Error(err)
	}
}
