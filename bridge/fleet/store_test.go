package fleet

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/node/stored"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// indexed returns the index of logs.
func indexed(t *testing.T, l *Logs) jetstream.KeyValue {
	t.Helper()
	kv, err := l.js.KeyValue(t.Context(), logIndex)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

func TestUploadAndFetch(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	c.Logs.part = 1000
	path := writeLog(t, "drone-1", 500, 1)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log, sent, err := c.Logs.Upload(t.Context(), path, nil)
	if err != nil || sent != (Sent{Bytes: int64(len(file))}) {
		t.Fatalf("%+v, %v", sent, err)
	}
	if log.Vehicle != "drone-1" || log.Samples != 500 || log.From != 10e6 || log.To != 500*10e6 || !slices.Equal(log.Channels, []string{"angle"}) || len(log.Parts) != (len(file)+999)/1000 {
		t.Errorf("%+v", log)
	}
	got, err := c.Logs.Fetch(t.Context(), "drone-1", log.ID, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(got); err != nil || !bytes.Equal(b, file) {
		t.Errorf("%d bytes, expected %d, %v", len(b), len(file), err)
	}
	again, sent, err := c.Logs.Upload(t.Context(), path, nil)
	if err != nil || sent != (Sent{Had: int64(len(file))}) || again.ID != log.ID {
		t.Errorf("the same log again: %+v, %v", sent, err)
	}
	// What was changed or is missing on the server is not returned as a log.
	if _, err := putObject(t.Context(), c.Logs.js, logObjects, log.object(1), "", strings.NewReader("other bytes")); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := c.Logs.Fetch(t.Context(), "drone-1", log.ID, dir); err == nil {
		t.Error("a changed part is accepted")
	}
	stream, err := c.Logs.js.Stream(t.Context(), "OBJ_"+logObjects)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context(), jetstream.WithPurgeSubject("$O."+logObjects+".M."+base64.URLEncoding.EncodeToString([]byte(log.object(1))))); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Logs.Fetch(t.Context(), "drone-1", log.ID, dir); !errors.Is(err, stored.ErrNone) {
		t.Errorf("a missing part: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A log that is listed was uploaded when the server says so.
func TestTheClockOfARobot(t *testing.T) {
	c := client(t, serve(t, Settings{}))
	l, _, err := c.Logs.Upload(t.Context(), writeLog(t, "drone-1", 50, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Uploaded = time.Unix(0, 0)
	if _, err := indexed(t, c.Logs).Put(t.Context(), l.key(), encoded(&l)); err != nil {
		t.Fatal(err)
	}
	if all, _, err := c.Logs.List(t.Context()); err != nil || len(all) != 1 || time.Since(all[0].Uploaded) > time.Hour {
		t.Errorf("%+v, %v", all, err)
	}
}

// After the link breaks in the midst of an upload, another upload sends the rest only.
func TestUploadIsResumed(t *testing.T) {
	ns := serve(t, Settings{})
	path := writeLog(t, "drone-1", 500, 1)
	nc := connect(t, ns)
	first, err := OpenLogs(t.Context(), nc)
	if err != nil {
		t.Fatal(err)
	}
	first.part = 1000
	parts := 0
	_, before, err := first.Upload(t.Context(), path, func(Sent) {
		if parts++; parts == 3 {
			nc.Close()
		}
	})
	if err == nil || before != (Sent{Bytes: 3000}) {
		t.Fatalf("%+v, %v", before, err)
	}
	c := client(t, ns)
	c.Logs.part = 1000
	if logs, _, err := c.Logs.List(t.Context()); err != nil || len(logs) != 0 {
		t.Errorf("half a log is listed: %+v, %v", logs, err)
	}
	log, sent, err := c.Logs.Upload(t.Context(), path, nil)
	if err != nil || sent.Had != 3000 || sent.Bytes != log.Bytes-3000 {
		t.Errorf("%+v of %d bytes, %v", sent, log.Bytes, err)
	}
	if logs, _, err := c.Logs.List(t.Context()); err != nil || len(logs) != 1 {
		t.Errorf("%+v, %v", logs, err)
	}
}

func TestUploadRefuses(t *testing.T) {
	ns := serve(t, Settings{LogBytes: 20000})
	c := client(t, ns)
	text := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(text, []byte("t,angle\n0,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Logs.Upload(t.Context(), text, nil); !errors.Is(err, flightlog.ErrNotLog) {
		t.Errorf("a table: %v", err)
	}
	if _, _, err := c.Logs.Upload(t.Context(), writeLog(t, "drone-1", 0, 1), nil); err == nil {
		t.Error("a log without samples is stored")
	}
	var api *jetstream.APIError
	if _, _, err := c.Logs.Upload(t.Context(), writeLog(t, "drone-1", 5000, 1), nil); !errors.As(err, &api) {
		t.Errorf("more than the limit of the store: %v", err)
	}
	if logs, _, err := c.Logs.List(t.Context()); err != nil || len(logs) != 0 {
		t.Errorf("%+v, %v", logs, err)
	}
}

// In a cluster one replica is refused: a client cannot read whether its server writes at once.
func TestOneReplicaInACluster(t *testing.T) {
	ns := startServer(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: server.RANDOM_PORT}})
	if err := Setup(t.Context(), connect(t, ns), Settings{Replicas: 1}); err == nil || !strings.Contains(err.Error(), "one replica") {
		t.Error(err)
	}
}

func TestAServerWithoutAFleet(t *testing.T) {
	nc := connect(t, startServer(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true}))
	if _, err := OpenLogs(t.Context(), nc); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := OpenQueue(t.Context(), nc); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("%v", err)
	}
}

// What others have put on the server is skipped and named, and blocks nothing.
func TestForeignEntries(t *testing.T) {
	ns := serve(t, Settings{})
	c := client(t, ns)
	j := submitted(t, c, "drone-1")
	put := func(_ uint64, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put(indexed(t, c.Logs).PutString(t.Context(), "drone-1.x", "no JSON"))
	put(indexed(t, c.Logs).PutString(t.Context(), "drone-2."+j.Logs[0], string(encoded(Log{ID: j.Logs[0], Vehicle: "drone-1"}))))
	put(c.Models.index.PutString(t.Context(), "drone-1.x", "{}"))
	put(c.Queue.states.PutString(t.Context(), "x", string(encoded(JobStatus{Job: Job{ID: "x", Vehicle: "../x"}}))))
	for _, id := range []string{"x", "y"} {
		if _, err := c.Queue.js.Publish(t.Context(), jobPrefix+id, nil); err != nil {
			t.Fatal(err)
		}
	}
	start(t, ns, "a", copyLog)
	await(t, c.Queue, j.ID, Done)
	eventually(t, "an empty queue", func() bool { return queued(t, c.Queue) == 0 })
	s, err := ReadStatus(t.Context(), c.Logs, c.Queue, installer(t, ns), nil)
	if err != nil || len(s.Unreadable) != 4 || len(s.Jobs) != 1 || len(s.Vehicles) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// An entry that is accepted names a job or log by its own contents, and no file elsewhere.
func FuzzEntries(f *testing.F) {
	j := NewJob("drone-1", []string{"1"}, "s", "v")
	id := strings.Repeat("0a", 32)
	f.Add(encoded(Log{ID: id, Vehicle: "drone-1"}), "drone-1."+id)
	f.Add(encoded(JobStatus{Job: j, State: Running}), j.ID)
	f.Add(encoded(Model{ID: "m", Job: j}), j.key())
	f.Add([]byte(`{"vehicle":"..","id":"/"}`), "../")
	f.Add(encoded(Installation{Vehicle: "drone-1", Flown: &Ref{Model: "m"}}), "drone-1")
	f.Add(encoded(Rollout{Group: "g", Vehicles: []string{"drone-1"}, Rule: Rule{Windows: 2, Alpha: 0.1, Longest: time.Hour}, Stage: StageCanary}), "g")
	f.Add(encoded(Group{Name: "g", Vehicles: []string{"drone-1"}}), "g")
	f.Add(encoded(tag{Name: "t"}), "t")
	f.Add([]byte(Flown{Model: "m", Alarms: []string{"a"}}.Text()), "")
	f.Fuzz(func(t *testing.T, b []byte, key string) {
		if l, err := decode[Log](b, key); err == nil && (l.key() != key || strings.ContainsAny(l.object(0), ".\\") || strings.Count(l.object(0), "/") != 1) {
			t.Errorf("%+v", l)
		}
		if s, err := decode[JobStatus](b, key); err == nil && s.ID != NewJob(s.Vehicle, s.Logs, s.Settings, s.Version).ID {
			t.Errorf("%+v", s)
		}
		if m, err := decode[Model](b, key); err == nil && (m.Job.key() != key || strings.ContainsAny(key, "/\\")) {
			t.Errorf("%+v", m)
		}
		if i, err := decode[Installation](b, key); err == nil && wire.CheckVehicle(key) != nil {
			t.Errorf("%+v", i)
		}
		for _, vehicles := range [...]func() ([]string, error){
			func() ([]string, error) { r, err := decode[Rollout](b, key); return r.Vehicles, err },
			func() ([]string, error) { g, err := decode[Group](b, key); return g.Vehicles, err },
		} {
			if all, err := vehicles(); err == nil && (len(all) == 0 || slices.ContainsFunc(all, func(v string) bool { return wire.CheckVehicle(v) != nil })) {
				t.Errorf("vehicles %q", all)
			}
		}
		if n, err := decode[tag](b, key); err == nil && n.Name != key {
			t.Errorf("%+v", n)
		}
		var l Log
		for range mostFlown + 1 {
			l.remark(string(b))
		}
		if len(l.Models) > 1 || len(l.Alarms) > mostFlown || l.Coverage != nil && !(*l.Coverage >= 0 && *l.Coverage <= 1) {
			t.Errorf("%+v", l)
		}
	})
}
