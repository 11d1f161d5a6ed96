package fleet

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/node/stored"
)

// follower is an estimator of drone-1 that has the key of its robot and nothing else.
type follower struct {
	t    *testing.T
	node *node.Node
	end  context.CancelFunc

	mu    sync.Mutex
	lines []string
}

func (r *roles) follow(trustFile string) *follower {
	r.t.Helper()
	f := &follower{t: r.t}
	first, err := model.Decode(must(artificial.New(artificial.Size{K: 2, P: 1, Features: 4, Points: 4, Horizon: 1}, 9).Encode()))
	if err == nil {
		f.node, err = node.New(node.Config{
			Vehicle: "drone-1", Accept: model.Acceptance{Key: operatorPublic}, TrustFile: trustFile, Deadline: time.Second,
			Log: func(line string) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.lines = append(f.lines, line)
			},
		}, first)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	done, nc := make(chan struct{}), r.as(RobotRole("drone-1"))
	go func() { defer close(done); f.node.Watch(ctx, nc, OwnFlown("drone-1"), FlownObject("drone-1")) }()
	f.end = func() { cancel(); <-done }
	r.t.Cleanup(f.end)
	return f
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// await waits until the estimator uses a model and has said something; "" = anything.
func (f *follower) await(what, id, says string) {
	f.t.Helper()
	said := func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return says == "" || slices.ContainsFunc(f.lines, func(l string) bool { return strings.Contains(l, says) })
	}
	for end := time.Now().Add(30 * time.Second); !said() || id != "" && f.node.Model() != id; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.t.Fatalf("%s: it uses %s, and says %q; want %s, %q", what, f.node.Model(), f.lines, id, says)
		}
	}
}

// A robot with its own key takes what was decided, and no model that the log does not name for it, whoever has signed it: not with the
// operator's keys, and not after the log was forked or cut, before or after a restart.
func TestARobotFollowsTheLog(t *testing.T) {
	r := secured(t)
	nc := r.as(RoleOperator)
	in, err := OpenInstaller(t.Context(), nc, operatorKey)
	if err != nil {
		t.Fatal(err)
	}
	a, b := registered(t, in.Models, "drone-1", 1), registered(t, in.Models, "drone-1", 2)
	trust := filepath.Join(t.TempDir(), "trust")
	robot := r.follow(trust)
	for _, m := range []Model{a, b, a} {
		if _, err := in.Promote(t.Context(), "drone-1", m.Ref(), "by the test"); err != nil {
			t.Fatal(err)
		}
	}
	robot.await("decided", a.ID, "")

	// A thief of both keys of the operator signs a model and writes no decision, or one in a log of his own.
	files, err := in.of(t.Context(), "drone-1")
	if err != nil {
		t.Fatal(err)
	}
	_, of, err := in.get(t.Context(), "drone-1")
	if err != nil {
		t.Fatal(err)
	}
	install := func(s model.Statement) {
		t.Helper()
		file, err := in.file(t.Context(), &Ref{Model: b.ID, Vehicle: b.Job.Vehicle, Job: b.Job.ID})
		if err == nil {
			file, err = model.Sign(file, operatorKey, s)
		}
		if err == nil {
			_, err = files.Put(t.Context(), jetstream.ObjectMeta{Name: FlownObject("drone-1")}, bytes.NewReader(file))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	install(model.Statement{Vehicle: "drone-1", Sequence: of.Sequence + 5, Decision: of.Hash})
	robot.await("by the decision for another model", a.ID, "the log of decisions does not name it: it names model "+a.ID)
	install(model.Statement{Vehicle: "drone-1", Sequence: of.Sequence + 6})
	robot.await("without a decision", a.ID, "signed without a decision")

	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	var messages [][]byte
	if err := stored.All(t.Context(), nc, decisionStream, ">", func(m *stored.Message) error {
		messages = append(messages, m.Data)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	rewrite := func(messages [][]byte) {
		t.Helper()
		if err := js.DeleteStream(t.Context(), decisionStream); err != nil {
			t.Fatal(err)
		}
		if _, err := js.CreateStream(t.Context(), decisionConfig()); err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			if _, err := nc.Request(decisionPrefix+"installation.drone-1", m, 5*time.Second); err != nil {
				t.Fatal(err)
			}
		}
	}
	rewrite(messages[:1])
	forked := installerOf(t, nc)
	if _, err := forked.Promote(t.Context(), "drone-1", b.Ref(), "in a shorter log"); err != nil {
		t.Fatal(err)
	}
	robot.await("a shorter log", a.ID, "it has lost its end")
	robot.end()
	robot = r.follow(trust)
	robot.await("a shorter log, after a restart", "", "it has lost its end")
	if _, err := forked.Shadow(t.Context(), "drone-1", nil); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Model{a, b} { // longer than the old one
		if _, err := forked.Promote(t.Context(), "drone-1", m.Ref(), "in another log"); err != nil {
			t.Fatal(err)
		}
	}
	robot.await("a forked log", "", "it is not the one that was read before")
	if robot.node.Model() == b.ID {
		t.Error("it takes what was decided in a forked log")
	}
	robot.end()

	rewrite(messages)
	robot = r.follow(trust)
	if _, err := installerOf(t, nc).Promote(t.Context(), "drone-1", b.Ref(), "in the old log"); err != nil {
		t.Fatal(err)
	}
	robot.await("the log is the old one again", b.ID, "")
	if len(r.violations) > 0 {
		t.Errorf("%q", r.violations)
	}
}

// A robot whose account may not read the log takes no model, and says what to do.
func TestARobotThatMayNotReadTheLog(t *testing.T) {
	r := securedBut(t, strings.NewReplacer(`to: "`+directGet(decisionStream)+`"`, `to: "x"`, `{ service: { account: OPERATOR, subject: "`+directGet(decisionStream)+`" } }`, ""))
	in, err := OpenInstaller(t.Context(), r.as(RoleOperator), operatorKey)
	if err != nil {
		t.Fatal(err)
	}
	a := registered(t, in.Models, "drone-1", 1)
	if _, err := in.Promote(t.Context(), "drone-1", a.Ref(), "by the test"); err != nil {
		t.Fatal(err)
	}
	robot := r.follow("")
	robot.await("without the right", "", "write its accounts anew by dgm-fleet setup --accounts")
	if robot.node.Model() == a.ID {
		t.Error("it takes a model without the log")
	}
}
