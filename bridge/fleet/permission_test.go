package fleet

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/node/stored"
)

// permitted reads who may do what from the page, for vehicle drone-1.
func permitted(t *testing.T) map[string]*server.Permissions {
	t.Helper()
	b, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(b), "| | publishes | subscribes to |\n|---|---|---|\n")
	if !ok {
		t.Fatal("the page has no table of permissions")
	}
	code := regexp.MustCompile("`([^`]+)`")
	subjects := func(cell string) *server.SubjectPermission {
		p := &server.SubjectPermission{}
		for _, m := range code.FindAllStringSubmatch(cell, -1) {
			p.Allow = append(p.Allow, strings.ReplaceAll(m[1], "<vehicle>", "drone-1"))
		}
		return p
	}
	all := map[string]*server.Permissions{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			break
		}
		who, _, _ := strings.Cut(strings.TrimSpace(cells[1]), ",")
		all[who] = &server.Permissions{Publish: subjects(cells[2]), Subscribe: subjects(cells[3])}
	}
	return all
}

// The server reads the configurations of the page.
func TestTheConfigurationsOfThePage(t *testing.T) {
	b, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```conf (\\w+)\n(.*?)```").FindAllStringSubmatch(string(b), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d configurations", len(blocks))
	}
	for _, block := range blocks {
		path := filepath.Join(t.TempDir(), block[1]+".conf")
		if err := os.WriteFile(path, []byte(block[2]), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := server.ProcessConfigFile(path); err != nil {
			t.Errorf("%s: %v", block[1], err)
		}
	}
}

// roles is a server with a fleet on which every role may do what the page says and nothing else.
type roles struct {
	t   *testing.T
	url string

	mu         sync.Mutex
	violations []string
}

func secured(t *testing.T) *roles {
	t.Helper()
	o := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	}
	for name, p := range permitted(t) {
		o.Users = append(o.Users, &server.User{Username: name, Password: "pw", Permissions: p})
	}
	if len(o.Users) != 4 {
		t.Fatalf("%d roles", len(o.Users))
	}
	ns := startServer(t, o)
	r := &roles{t: t, url: ns.ClientURL()}
	if err := Setup(t.Context(), r.as("operator"), Settings{Lease: lease}); err != nil {
		t.Fatal(err)
	}
	return r
}

// uploaded uploads a log of a vehicle, and returns it in the store.
func (r *roles) uploaded(vehicle string) (*Logs, Log) {
	r.t.Helper()
	logs, err := OpenLogs(r.t.Context(), r.as("operator"))
	if err != nil {
		r.t.Fatal(err)
	}
	l, _, err := logs.Upload(r.t.Context(), writeLog(r.t, vehicle, 50, 1), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return logs, l
}

// as connects in a role.
func (r *roles) as(role string) *nats.Conn {
	r.t.Helper()
	inbox := role
	if role == "robot" {
		inbox = "estimator.drone-1"
	}
	nc, err := nats.Connect(r.url, nats.UserInfo(role, "pw"), nats.CustomInboxPrefix("_INBOX_"+inbox), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.violations = append(r.violations, err.Error())
	}))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(nc.Close)
	return nc
}

// violated reports whether something was refused that contains a text.
func (r *roles) violated(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.violations {
		if strings.Contains(v, text) {
			return true
		}
	}
	return false
}

// With the permissions of the page every role does what it is for, without a violation.
func TestThePermissionsOfThePageSuffice(t *testing.T) {
	r := secured(t)
	robot, err := OpenLogs(t.Context(), r.as("robot"))
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
	in, err := OpenInstaller(t.Context(), r.as("operator"), operatorKey)
	if err != nil {
		t.Fatal(err)
	}
	queue, err := OpenQueue(t.Context(), r.as("operator"))
	if err != nil {
		t.Fatal(err)
	}
	j := NewJob("drone-1", []string{log.ID}, "", "v1")
	if _, err := queue.Submit(t.Context(), j, false); err != nil {
		t.Fatal(err)
	}
	w, err := open(t.Context(), r.as("worker"))
	if err != nil {
		t.Fatal(err)
	}
	unit := NewStudyJob(Unit{Study: "s", Set: "a", Seed: 1}, "", "v1")
	if _, err := queue.Submit(t.Context(), unit, false); err != nil {
		t.Fatal(err)
	}
	w.Name, w.Dir = "w", t.TempDir()
	w.Train = func(ctx context.Context, of Training) (Model, error) {
		if of.Job.Study != nil {
			return Model{}, os.WriteFile(of.Out, []byte("{}\n"), 0o666)
		}
		return copyLog(ctx, of)
	}
	working, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(working) }()
	await(t, queue, j.ID, Done)
	await(t, queue, unit.ID, Done)
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
	flown, file := &stored.Objects{NC: r.as("robot"), Bucket: FlownObjects}, &bytes.Buffer{}
	info, err := flown.Info(t.Context(), FlownObject("drone-1"))
	if err == nil {
		err = flown.Copy(t.Context(), file, info, 1<<20)
	}
	if err != nil || file.Len() == 0 {
		t.Errorf("%d bytes, %v", file.Len(), err)
	}
	viewer := r.as("viewer")
	seen, err := open(t.Context(), viewer)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := OpenInstaller(t.Context(), viewer, nil)
	if err != nil {
		t.Fatal(err)
	}
	robots, err := Listen(viewer)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ReadStatus(t.Context(), seen.Logs, seen.Queue, reader, robots); err != nil || len(s.Robots) != 1 || len(s.Jobs) != 2 || len(s.Rollouts) != 1 || s.Vehicles[0].Logs != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if len(r.violations) > 0 {
		t.Errorf("%q", r.violations)
	}
}

// A robot neither reads another's logs nor promotes; a worker does not promote; a viewer changes nothing.
func TestWhatIsNotPermitted(t *testing.T) {
	r := secured(t)
	in, err := OpenInstaller(t.Context(), r.as("operator"), operatorKey)
	if err != nil {
		t.Fatal(err)
	}
	logs, other := r.uploaded("drone-2")
	info, err := logs.objects.Info(t.Context(), other.object(0))
	if err != nil {
		t.Fatal(err)
	}
	chunk := "$O.fleet-logs.C." + info.NUID
	promotes := []string{"$KV.fleet-installations.drone-1", "$O.fleet-flown.M.x", "$O.fleet-flown.C.x", "$KV.fleet-rollouts.g", "$KV.fleet-names.tag.x", "$KV.fleet-model-index.drone-1.x"}
	for role, subjects := range map[string][]string{
		"robot": append([]string{
			"$JS.API.DIRECT.GET.OBJ_fleet-logs." + chunk, "$JS.API.STREAM.MSG.GET.OBJ_fleet-logs", "$JS.API.DIRECT.GET.OBJ_fleet-logs",
			"$JS.API.CONSUMER.CREATE.OBJ_fleet-logs.c." + chunk, "$JS.API.CONSUMER.CREATE.OBJ_fleet-logs", "$JS.API.CONSUMER.DURABLE.CREATE.OBJ_fleet-logs.c",
			"$JS.API.STREAM.CREATE.mirror", "$JS.API.STREAM.PURGE.OBJ_fleet-logs", "$JS.API.STREAM.DELETE.OBJ_fleet-logs", "$JS.API.STREAM.SNAPSHOT.OBJ_fleet-logs",
			"$JS.API.DIRECT.GET.KV_fleet-log-index.$KV.fleet-log-index.drone-2." + other.ID, "$KV.fleet-log-index.drone-2." + other.ID,
			"$KV.fleet-jobs.x", "$KV.fleet-study-rows.x", "dgm.job.x", "dgm.model.drone-1", "dgm.model.drone-2", "dgm.state.drone-2", "dgm.status.drone-2", "dgm.swap.drone-2",
		}, promotes...),
		"worker": append([]string{"$JS.API.STREAM.PURGE.OBJ_fleet-models", "$JS.API.STREAM.CREATE.mirror", "dgm.model.drone-1", "dgm.job.x", "$KV.fleet-log-index.drone-1.x"}, promotes[:5]...),
		"viewer": append([]string{"$KV.fleet-jobs.x", "$KV.fleet-study-rows.x", "dgm.job.x", "dgm.model.drone-1", "dgm.state.drone-1", "$JS.API.STREAM.DELETE.KV_fleet-jobs", "$JS.API.CONSUMER.CREATE.OBJ_fleet-logs.c." + chunk}, promotes...),
	} {
		nc := r.as(role)
		for _, s := range subjects {
			if err := nc.Publish(s, nil); err != nil {
				t.Fatal(err)
			}
			if err := nc.Flush(); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("Publish to %q", s)
			eventually(t, "a "+role+" may not publish to "+s, func() bool { return r.violated(want) || r.violated(strings.ToLower(want)) })
		}
		for _, s := range []string{"$KV.>", "$O.>", "_INBOX_operator.>", "_INBOX_estimator.>", "_INBOX_estimator.drone-2.>", "_INBOX.>", ">", "dgm.job.*"} {
			if _, err := nc.SubscribeSync(s); err != nil {
				t.Fatal(err)
			}
			eventually(t, "a "+role+" may not subscribe to "+s, func() bool { return r.violated(fmt.Sprintf("Subscription to %q", s)) })
		}
		r.mu.Lock()
		r.violations = nil
		r.mu.Unlock()
	}
	if i, err := in.Get(t.Context(), "drone-1"); err != nil || i.Flown != nil {
		t.Errorf("%+v, %v", i, err)
	}
	if _, err := logs.Fetch(t.Context(), "drone-2", other.ID, t.TempDir()); err != nil {
		t.Errorf("the other's log: %v", err)
	}
}
