package fleet

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/dgm-robotics/dgm/estimator/node/stored"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// roles is a server with a fleet of drone-1 and drone-2 on which every role may do what an Authority says and nothing else.
type roles struct {
	t   *testing.T
	of  *Authority
	url string
	key map[string]nkeys.KeyPair

	mu         sync.Mutex
	violations []string
}

func secured(t *testing.T) *roles { return securedBut(t, strings.NewReplacer()) }

// securedBut is secured by a configuration that is not quite what the Authority says.
func securedBut(t *testing.T, mistake *strings.Replacer) *roles {
	t.Helper()
	r := &roles{t: t, of: &Authority{Robots: []string{"drone-1", "drone-2"}, Keys: map[string]string{}}, key: map[string]nkeys.KeyPair{}}
	for _, role := range r.of.Roles() {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		if r.of.Keys[role], err = pair.PublicKey(); err != nil {
			t.Fatal(err)
		}
		r.key[role] = pair
	}
	config, err := r.of.Config()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(path, []byte(mistake.Replace(config)), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o.Host, o.Port, o.JetStream, o.StoreDir, o.NoLog, o.NoSigs = "127.0.0.1", server.RANDOM_PORT, true, t.TempDir(), true, true
	r.url = startServer(t, o).ClientURL()
	if err := Setup(t.Context(), r.as(RoleOperator), Settings{Lease: lease, Robots: r.of.Robots}); err != nil {
		t.Fatal(err)
	}
	return r
}

// uploaded uploads a log of a vehicle.
func (r *roles) uploaded(vehicle string) Log {
	r.t.Helper()
	logs, err := Uploads(r.as(RobotRole(vehicle)))
	if err != nil {
		r.t.Fatal(err)
	}
	l, _, err := logs.Upload(r.t.Context(), writeLog(r.t, vehicle, 50, 1), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return l
}

// as connects in a role.
func (r *roles) as(role string) *nats.Conn {
	r.t.Helper()
	nc, err := r.connect(role)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(nc.Close)
	return nc
}

func (r *roles) connect(role string) (*nats.Conn, error) {
	inbox, _, _ := strings.Cut(role, ".")
	return nats.Connect(r.url, nats.Nkey(r.of.Keys[role], r.key[role].Sign), nats.CustomInboxPrefix("_INBOX_"+inbox), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.violations = append(r.violations, role+": "+err.Error())
	}))
}

// With its account every role does what it is for, without a violation.
func TestTheAccountsSuffice(t *testing.T) {
	r := secured(t)
	robot, err := Uploads(r.as(RobotRole("drone-1")))
	if err != nil {
		t.Fatal(err)
	}
	path := writeLog(t, "drone-1", 50, 1)
	log, _, err := robot.Upload(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, sent, err := robot.Upload(t.Context(), path, nil); err != nil || sent.Bytes != 0 {
		t.Errorf("%+v, %v", sent, err)
	}
	in, err := OpenInstaller(t.Context(), r.as(RoleOperator), operatorKey)
	if err != nil {
		t.Fatal(err)
	}
	queue, err := OpenQueue(t.Context(), r.as(RoleOperator))
	if err != nil {
		t.Fatal(err)
	}
	j := NewJob("drone-1", []string{log.ID}, "", "v1")
	if _, err := queue.Submit(t.Context(), j, false); err != nil {
		t.Fatal(err)
	}
	w, err := open(t.Context(), r.as(RoleWorker))
	if err != nil {
		t.Fatal(err)
	}
	w.Name, w.Dir, w.Train = "w", t.TempDir(), copyLog
	working, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(working) }()
	await(t, queue, j.ID, Done)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	a, b := registered(t, w.Models, "drone-1", 1), registered(t, w.Models, "drone-1", 2)
	for _, m := range []Model{a, b} {
		if _, err := in.Promote(t.Context(), "drone-1", m.Ref(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := in.Rollback(t.Context(), "drone-1", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Begin(t.Context(), Group{Name: "drone-1", Vehicles: []string{"drone-1"}}, b.Ref(), UsualRule()); err != nil {
		t.Fatal(err)
	}
	flown, file := &stored.Objects{NC: r.as(RobotRole("drone-1")), Bucket: OwnFlown("drone-1")}, &bytes.Buffer{}
	info, err := flown.Info(t.Context(), FlownObject("drone-1"))
	if err == nil {
		err = flown.Copy(t.Context(), file, info, 1<<20)
	}
	if err != nil || file.Len() == 0 {
		t.Errorf("%d bytes, %v", file.Len(), err)
	}
	viewer := r.as(RoleViewer)
	seen, err := open(t.Context(), viewer)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := OpenReader(t.Context(), viewer, nil)
	if err != nil {
		t.Fatal(err)
	}
	robots, err := Listen(viewer)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ReadStatus(t.Context(), seen.Logs, seen.Queue, reader, robots); err != nil || len(s.Robots) != 1 || len(s.Jobs) != 1 || len(s.Rollouts) != 1 || s.Vehicles[0].Logs != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	r.speak(t)
	if len(r.violations) > 0 {
		t.Errorf("%q", r.violations)
	}
}

// speak sends what a robot says and is asked, between the accounts.
func (r *roles) speak(t *testing.T) {
	t.Helper()
	robot, planner, viewer, operator := r.as(RobotRole("drone-1")), r.as(PlannerRole("drone-1")), r.as(RoleViewer), r.as(RoleOperator)
	for _, s := range []string{wire.QuerySubject("drone-1"), wire.ModelSubject("drone-1")} {
		if _, err := robot.Subscribe(s, func(m *nats.Msg) {
			if wire.IsInbox(m.Reply) {
				_ = m.Respond([]byte("answer"))
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	heard := map[string]*nats.Subscription{}
	for name, at := range map[string]struct {
		nc      *nats.Conn
		subject string
	}{
		"a prediction, by the planner": {planner, wire.PredictSubject("drone-1")}, "a prediction, by the viewer": {viewer, wire.AllPredictions},
		"a status, by the operator": {operator, wire.AllStatuses}, "a state, by the viewer": {viewer, wire.AllStates},
	} {
		sub, err := at.nc.SubscribeSync(at.subject)
		if err == nil {
			err = at.nc.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		heard[name] = sub
	}
	if err := robot.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{wire.PredictSubject("drone-1"), wire.StatusSubject("drone-1"), wire.StateSubject("drone-1")} {
		if err := robot.Publish(s, []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	for name, sub := range heard {
		if _, err := sub.NextMsg(5 * time.Second); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, ask := range map[string]func() (*nats.Msg, error){
		"the planner's query":    func() (*nats.Msg, error) { return planner.Request(wire.QuerySubject("drone-1"), nil, 5*time.Second) },
		"the viewer's query":     func() (*nats.Msg, error) { return viewer.Request(wire.QuerySubject("drone-1"), nil, 5*time.Second) },
		"the operator's command": func() (*nats.Msg, error) { return operator.Request(wire.ModelSubject("drone-1"), nil, 5*time.Second) },
	} {
		if m, err := ask(); err != nil || string(m.Data) != "answer" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What one role does to another does not get through, whatever it asks and wherever the answer is to go.
func TestNobodyActsForAnother(t *testing.T) {
	r := secured(t)
	for _, v := range r.of.Robots {
		r.uploaded(v)
	}
	models, err := OpenModels(t.Context(), r.as(RoleOperator))
	if err != nil {
		t.Fatal(err)
	}
	in, err := OpenInstaller(t.Context(), r.as(RoleOperator), operatorKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.of.Robots {
		m := registered(t, models, v, 1)
		if _, err := in.Promote(t.Context(), v, m.Ref(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.of.Fill(t.Context(), r.as(RoleOperator)); err != nil {
		t.Fatal(err)
	}
	targets, roles := 2, r.of.Roles()[1:5] // worker, viewer and the first robot with its planner: the second robot is as the first
	if os.Getenv("DGM_SLOW") != "" {
		targets, roles = mostTargets, r.of.Roles()[1:]
	}
	audit, err := r.of.examine(t.Context(), r.connect, func(role string, tried int) { t.Log(role, tried) }, targets, roles)
	if err != nil || audit.Tried < 500*len(roles) {
		t.Errorf("%d tried, %v", audit.Tried, err)
	}
	for _, f := range audit.Through {
		t.Errorf("%s: %s: %s", f.Role, f.Action, f.Target)
	}
}

// The audit finds what gets through: a robot in the operator's account.
func TestTheAuditFinds(t *testing.T) {
	r := secured(t)
	r.key[RobotRole("drone-1")], r.of.Keys[RobotRole("drone-1")] = r.key[RoleOperator], r.of.Keys[RoleOperator]
	audit, err := r.of.examine(t.Context(), r.connect, nil, 1, []string{RobotRole("drone-1")})
	if err != nil {
		t.Fatal(err)
	}
	if len(audit.Through) < 50 {
		t.Errorf("%d got through", len(audit.Through))
	}
	for kind, is := range map[string]func(f *Through) bool{
		"an answer":              func(f *Through) bool { return f.Target == "is answered" },
		"a changed store":        func(f *Through) bool { return strings.HasPrefix(f.Target, "changed ") },
		"a message to a vehicle": func(f *Through) bool { return strings.HasPrefix(f.Target, account(RobotRole("drone-2"))+" on ") },
	} {
		if !slices.ContainsFunc(audit.Through, func(f Through) bool { return is(&f) }) {
			t.Errorf("it does not find %s", kind)
		}
	}
}

// The audit finds one subject that a server's configuration has too wide: a robot writes keys of another one.
func TestTheAuditFindsAWiderSubject(t *testing.T) {
	index, own := "$KV."+logIndex, "$KV."+OwnIndex("drone-1")
	r := securedBut(t, strings.NewReplacer(`"`+own+`.drone-1.*"`, `"`+index+`.>"`))
	r.uploaded("drone-2")
	audit, err := r.of.ExamineAs(t.Context(), r.connect, RobotRole("drone-1"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(audit.Through, func(f Through) bool {
		return f.Role == RobotRole("drone-1") && f.Target == "changed "+keysOf("drone-2")
	}) {
		t.Errorf("%v got through, no key of the other robot", audit.Through)
	}
}

// It finds a store that a robot may read and that is empty.
func TestTheAuditFindsAnEmptyStore(t *testing.T) {
	r := securedBut(t, strings.NewReplacer(`"`+directGet("OBJ_"+OwnFlown("drone-1"))+`"`, `"`+directGet("*")+`"`))
	audit, err := r.of.examine(t.Context(), r.connect, nil, 1, []string{RobotRole("drone-1")})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Through{RobotRole("drone-1"), directGet("OBJ_" + OwnFlown("drone-2")), "is answered"}); !slices.Contains(audit.Through, want) {
		t.Errorf("%v got through, not %v", audit.Through, want)
	}
}

// The audit tries each request by its name, and each header at each target.
func TestWhatIsTried(t *testing.T) {
	a := &Authority{Robots: []string{"a", "b"}}
	tried := map[string]bool{}
	for _, group := range a.attempts(RobotRole("a"), []string{"s"}, mostTargets) {
		for _, t := range group {
			tried[t.subject] = true
			for name := range t.header {
				tried[name+" at "+t.reply] = true
			}
		}
	}
	for _, want := range []string{"$JS.API.STREAM.SNAPSHOT.s", "$JS.API.STREAM.LEADER.STEPDOWN.s", "$JS.API.CONSUMER.LEADER.STEPDOWN.s.workers", "$JS.API.STREAM.DELETE.*", "$JS.API.DIRECT.GET.>"} {
		if !tried[want] {
			t.Errorf("%s is not tried", want)
		}
	}
	for _, target := range targetsAt("b")[1:] {
		for _, header := range []string{"Nats-Trace-Dest", "Nats-Rollup", "Nats-Schedule-Target"} {
			if !tried[header+" at "+target] {
				t.Errorf("%s at %s is not tried", header, target)
			}
		}
	}
}
