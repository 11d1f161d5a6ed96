package fleet

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Whoever may write one entry or one part cannot remove all others by the header that replaces a whole stream.
func TestOneWriterDoesNotReplaceAStream(t *testing.T) {
	r := secured(t)
	if err := Setup(t.Context(), r.as(RoleOperator), Settings{Lease: lease, Keep: time.Hour, Robots: r.of.Robots}); err != nil { // again
		t.Fatal(err)
	}
	own := r.uploaded("drone-1")
	logs, err := OpenLogs(t.Context(), r.as(RoleOperator))
	if err != nil {
		t.Fatal(err)
	}
	models, err := OpenModels(t.Context(), r.as(RoleOperator))
	if err != nil {
		t.Fatal(err)
	}
	m := registered(t, models, "drone-2", 1)
	for role, subjects := range map[string][]string{
		RobotRole("drone-1"): {"$KV.fleet-log-index-drone-1.drone-1.x", "$O.fleet-logs-drone-1.M.x", "$O.fleet-logs-drone-1.C.x"},
		RoleWorker:           {"$KV.fleet-model-index.drone-1.x", "$KV.fleet-jobs.x", "$O.fleet-models.M.x", "$O.fleet-models.C.x"},
	} {
		nc := r.as(role)
		for _, s := range subjects {
			msg := nats.NewMsg(s)
			msg.Header.Set("Nats-Rollup", "all")
			if _, err := nc.RequestMsg(msg, time.Minute); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := logs.Fetch(t.Context(), "drone-1", own.ID, t.TempDir()); err != nil {
		t.Error(err)
	}
	if all, _, err := models.List(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%d models, %v", len(all), err)
	} else if _, err := models.objects.Info(t.Context(), m.Job.ID+"/"+m.ID); err != nil {
		t.Error(err)
	}
}

// A robot that enters as much as it can fills its own part of the index: others upload, and all logs are listed.
func TestOneRobotFillsItsOwnIndexAlone(t *testing.T) {
	r := secured(t)
	first := r.uploaded("drone-1")
	thief, refused := r.as(RobotRole("drone-1")), ""
	for i := range 2 * ownIndexBytes / entryBytes {
		m, err := thief.Request(fmt.Sprintf("$KV.%s.drone-1.%d", OwnIndex("drone-1"), i), make([]byte, entryBytes-1000), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(m.Data), "maximum bytes") {
			refused = string(m.Data)
		}
	}
	if refused == "" {
		t.Error("nothing is refused")
	}
	second := r.uploaded("drone-2")
	logs, err := OpenLogs(t.Context(), r.as(RoleViewer))
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := logs.List(t.Context())
	if err != nil || !slices.ContainsFunc(all, func(l Log) bool { return l.ID == first.ID }) || !slices.ContainsFunc(all, func(l Log) bool { return l.ID == second.ID }) {
		t.Errorf("%d logs, %v", len(all), err)
	}
}

// Numbers that are none prove nothing, and do not keep the status of the others from being read.
func TestUntrustedNumbersOfAStatus(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := wire.LoadedModel{Role: wire.RoleShadow, Windows: math.MaxUint64, Difference: -1, DifferenceStd: 1, Buckets: []float64{1}, Coverage: []float64{0.95}}
	lies := map[string]func(*wire.LoadedModel){
		"NaN coverage":       func(s *wire.LoadedModel) { s.Coverage = []float64{nan} },
		"coverage above 1":   func(s *wire.LoadedModel) { s.Coverage = []float64{7} },
		"no coverage":        func(s *wire.LoadedModel) { s.Coverage = nil },
		"no buckets":         func(s *wire.LoadedModel) { s.Buckets = nil },
		"many buckets":       func(s *wire.LoadedModel) { s.Buckets = make([]float64, 9) },
		"infinite":           func(s *wire.LoadedModel) { s.Difference = -inf },
		"NaN":                func(s *wire.LoadedModel) { s.Difference = nan },
		"negative deviation": func(s *wire.LoadedModel) { s.DifferenceStd = -100 },
		"NaN deviation":      func(s *wire.LoadedModel) { s.DifferenceStd = nan },
	}
	if v, why := UsualRule().judge(&good); v != better {
		t.Fatal(why)
	}
	sim, old, next := begun(t)
	c, err := open(t.Context(), sim.nc)
	if err != nil {
		t.Fatal(err)
	}
	for name, lie := range lies {
		s := good
		s.Model = next.ID
		lie(&s)
		if v, why := UsualRule().judge(&s); v == better {
			t.Errorf("%s: %s", name, why)
		}
		sim.reports("a", old.ID, time.Hour, func(st *wire.Status) {
			st.Models = append(st.Models, s)
			st.Channels, st.Checks, st.Coverage, st.Factor = []string{"x"}, []float64{inf, -inf, nan, 1}, []float64{nan, 1, 1, inf}, []float64{nan, inf}
		})
		st, err := ReadStatus(t.Context(), c.Logs, c.Queue, sim.c.In, sim.c.Robots)
		if err == nil {
			_, err = json.Marshal(&st)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	st := wire.Status{Vehicle: "\x1b[2J"}
	if err := sim.nc.Publish(wire.StatusSubject(st.Vehicle), st.Append(nil)); err != nil {
		t.Fatal(err)
	}
	sim.reports("b", old.ID, time.Hour, nil)
	if all := sim.c.Robots.Vehicles(); len(all) != 2 {
		t.Errorf("%q", all)
	}
}

// following returns a rollout whose canary a is done, and whose follower b uses the model.
func following(t *testing.T) (s *simulated, old, next Model) {
	t.Helper()
	s, old, next = begun(t)
	s.look("g")
	s.reports("a", old.ID, time.Hour, tries(next.ID, -1))
	s.look("g")
	s.reports("a", next.ID, time.Hour, nil)
	if r := s.look("g"); r.Stage != StageFollowing {
		t.Fatalf("%+v", r)
	}
	s.wants("b", next.ID, "")
	return s, old, next
}

// A follower that an operator lets go back stays there.
func TestAnOperatorOverrulesARollout(t *testing.T) {
	s, old, next := following(t)
	if _, err := s.c.In.Rollback(t.Context(), "b", "by hand"); err != nil {
		t.Fatal(err)
	}
	if r := s.look("g"); !strings.Contains(r.LeftOut["b"], "by hand") {
		t.Errorf("%+v", r)
	}
	s.look("g")
	s.wants("b", old.ID, "")
	s.wants("c", next.ID, "")
	if _, err := s.c.In.Promote(t.Context(), "b", next.Ref(), "by hand"); err != nil {
		t.Fatal(err)
	}
	s.look("g")
	s.wants("b", next.ID, "")
}

// Neither going back nor what an operator decides depends on the clocks of those who decide.
func TestClocksOfOperators(t *testing.T) {
	for _, skew := range []time.Duration{-time.Hour, time.Hour} {
		skewed := func(s *simulated) {
			s.changes("g", func(r *Rollout) { r.Begun, r.Since = r.Begun.Add(skew), r.Since.Add(skew) })
		}
		s, old, next := begun(t)
		skewed(s)
		s.reports("a", old.ID, time.Hour, tries(next.ID, -1))
		s.look("g")
		s.wants("a", next.ID, "")
		skewed(s)
		s.reports("a", next.ID, time.Minute, alarmed)
		if r := s.look("g"); r.Stage != StageReturned {
			t.Errorf("%+v", r)
		}
		s.wants("a", old.ID, "")
		if _, err := s.c.In.Begin(t.Context(), Group{Name: "g", Vehicles: []string{"a", "b"}}, next.Ref(), UsualRule()); err != nil {
			t.Fatal(err)
		}
		s.reports("a", old.ID, time.Hour, tries(next.ID, -1))
		s.look("g")
		skewed(s)
		if _, err := s.c.In.Rollback(t.Context(), "a", "by hand"); err != nil {
			t.Fatal(err)
		}
		s.look("g")
		s.wants("a", old.ID, "")
	}
}

// Two rollouts that began at the same moment do not take a vehicle from each other.
func TestRolloutsThatBeganAtOnce(t *testing.T) {
	s, old, next := begun(t)
	r, err := s.c.In.Rollout(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	third := registered(t, s.c.In.Models, "a", 3)
	r.Group, r.Vehicles, r.Model = "f", []string{"c", "b"}, third.Ref()
	r.Begun = r.Begun.Add(time.Millisecond)
	if err := s.c.In.decideRollout(t.Context(), &r, 0); err != nil {
		t.Fatal(err)
	}
	s.look("g")
	if r := s.look("f"); r.Stage != StageStopped || !strings.Contains(r.Reason, "rollout to g") {
		t.Errorf("%+v", r)
	}
	for _, v := range []string{"a", "b", "c"} {
		s.wants(v, old.ID, next.ID)
	}
}

// A controller that was held up does not install what was taken back meanwhile.
func TestAControllerThatWasHeldUp(t *testing.T) {
	s, old, next := begun(t)
	s.reports("a", old.ID, time.Hour, tries(next.ID, -1))
	r := s.look("g")
	s.reports("a", next.ID, time.Minute, alarmed)
	s.look("g")
	if err := s.c.promote(t.Context(), "a", &r); err != nil {
		t.Fatal(err)
	}
	s.wants("a", old.ID, "")
}

// Scores that are no numbers, an entry that is none in the place of the model, and a message that names no job end with
// their reason.
func TestPoison(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	nc := connect(t, ns)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a$b", "=?"} {
		if _, err := js.Publish(t.Context(), jobPrefix+id, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	j := submitted(t, c, "drone-1")
	foreign := submitted(t, c, "drone-2")
	if _, err := c.Models.index.Put(t.Context(), foreign.key(), []byte("{")); err != nil {
		t.Fatal(err)
	}
	start(t, ns, "a", func(ctx context.Context, tr Training) (Model, error) {
		tr.Progress("x", math.NaN())
		m, err := copyLog(ctx, tr)
		m.HeldOut.LogLik = math.Inf(-1)
		return m, err
	})
	if s := await(t, c.Queue, j.ID, Failed); !strings.Contains(s.Reason, "cannot be stored") {
		t.Errorf("%+v", s)
	}
	if s := await(t, c.Queue, foreign.ID, Failed); !strings.Contains(s.Reason, "cannot be read") {
		t.Errorf("%+v", s)
	}
	eventually(t, "an empty queue", func() bool { return queued(t, c.Queue) == 0 })
}

// described uploads a log, and changes the description of its first part.
func described(t *testing.T, c *Worker, change func(log *Log, info *jetstream.ObjectInfo)) Log {
	t.Helper()
	log, _, err := c.Logs.Upload(t.Context(), writeLog(t, "drone-1", 50, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := c.Logs.js.ObjectStore(t.Context(), logObjects)
	if err != nil {
		t.Fatal(err)
	}
	info, err := store.GetInfo(t.Context(), log.object(0))
	if err != nil {
		t.Fatal(err)
	}
	change(&log, info)
	if _, err := c.Logs.js.Publish(t.Context(), "$O."+logObjects+".M."+base64.URLEncoding.EncodeToString([]byte(log.object(0))), encoded(info)); err != nil {
		t.Fatal(err)
	}
	return log
}

// A part that is a link, here one in a circle, is not followed.
func TestALogOfLinks(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	log := described(t, c, func(log *Log, info *jetstream.ObjectInfo) {
		info.Opts = &jetstream.ObjectMetaOptions{Link: &jetstream.ObjectLink{Bucket: logObjects, Name: log.object(0)}}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.Logs.Fetch(ctx, "drone-1", log.ID, t.TempDir()); err == nil || !strings.Contains(err.Error(), "changed on the server") {
		t.Error(err)
	}
	log.Parts = append(log.Parts, Part{Bytes: math.MaxInt64}, Part{Bytes: math.MaxInt64})
	if _, err := decode[Log](encoded(&log), log.key()); err == nil {
		t.Error("a log of many exabytes")
	}
}

// A canary whose status has no comparisons, or impossible ones, keeps its group waiting, and goes back in the end.
func TestACanaryInSilence(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	s, old, next := begun(t)
	s.reports("a", old.ID, time.Hour, tries(next.ID, -1))
	s.look("g")
	for name, says := range map[string]func(*wire.Status){
		"without a monitor":   func(st *wire.Status) { st.Buckets, st.Checks, st.Coverage = nil, nil, nil },
		"without comparisons": func(st *wire.Status) { st.Checks, st.Coverage = []float64{0}, []float64{-1} },
		"with a few":          func(st *wire.Status) { st.Checks = []float64{3} },
		"at one time of two": func(st *wire.Status) {
			st.Buckets, st.Checks, st.Coverage = []float64{1, 2}, []float64{1000, 0}, []float64{0.95, -1}
		},
		"with NaN comparisons":     func(st *wire.Status) { st.Checks = []float64{nan} },
		"with endless comparisons": func(st *wire.Status) { st.Checks = []float64{inf} },
		"with NaN coverage":        func(st *wire.Status) { st.Coverage = []float64{nan} },
		"without coverage":         func(st *wire.Status) { st.Coverage = nil },
	} {
		s.reports("a", next.ID, time.Hour, says)
		if r := s.look("g"); r.Stage != StageCanary {
			t.Errorf("%s: %+v", name, r)
		}
	}
	s.waited("g")
	if r := s.look("g"); r.Stage != StageReturned || !strings.Contains(r.Reason, "trust monitor") {
		t.Errorf("%+v", r)
	}
	s.wants("a", old.ID, "")
}

// A worker whose clock is in the year 2100 does not make its model the newest for ever.
func TestNewestIsByTheServersClock(t *testing.T) {
	in := installer(t, serve(t, Settings{}))
	first := registered(t, in.Models, "a", 1)
	m := first
	m.ID, m.Job.ID, m.Trained = "future", strings.Repeat("f", len(first.Job.ID)), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := in.Models.index.Create(t.Context(), m.Job.key(), encoded(&m)); err != nil {
		t.Fatal(err)
	}
	last := registered(t, in.Models, "a", 2)
	found, err := in.Find(t.Context(), "a", Newest)
	if err != nil || found.ID != last.ID || time.Since(found.Trained) > time.Hour {
		t.Errorf("%s of %v, %v", found.ID, found.Trained, err)
	}
}

// A log of which a part was replaced on the server is whole again after one more upload, which sends that part alone.
func TestAnUploadRepairs(t *testing.T) {
	c := client(t, serve(t, Settings{}))
	c.Logs.part = 1000
	path := writeLog(t, "drone-1", 500, 1)
	log, _, err := c.Logs.Upload(t.Context(), path, nil)
	if err != nil || len(log.Parts) < 3 {
		t.Fatal(log.Parts, err)
	}
	for name, digest := range map[string]string{"other bytes": "", "other bytes behind the same description": digest(log.Parts[1].SHA256)} {
		info, err := putObject(t.Context(), c.Logs.js, logObjects, log.object(1), "", strings.NewReader(strings.Repeat("x", int(log.Parts[1].Bytes))))
		if err == nil && digest != "" {
			info.Digest = digest
			_, err = c.Logs.js.Publish(t.Context(), "$O."+logObjects+".M."+base64.URLEncoding.EncodeToString([]byte(log.object(1))), encoded(info))
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Logs.Fetch(t.Context(), "drone-1", log.ID, t.TempDir()); err == nil || !strings.Contains(err.Error(), "upload it again") {
			t.Errorf("%s: the poisoned log: %v", name, err)
		}
		if _, sent, err := c.Logs.Upload(t.Context(), path, nil); err != nil || sent.Bytes != log.Parts[1].Bytes {
			t.Errorf("%s: %+v, %v", name, sent, err)
		}
		if _, err := c.Logs.Fetch(t.Context(), "drone-1", log.ID, t.TempDir()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
