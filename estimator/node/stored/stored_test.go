package stored_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/estimator/node/stored"
)

// serve starts a server and returns a client of it.
func serve(t *testing.T) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	return serveWith(t, &server.Options{})
}

func serveWith(t *testing.T, o *server.Options) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	o.Host, o.Port, o.JetStream, o.StoreDir, o.NoLog, o.NoSigs = "127.0.0.1", -1, true, t.TempDir(), true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

// More keys than one request asks for are listed once each, in order; one that was changed has its last value.
func TestAll(t *testing.T) {
	nc, js := serve(t)
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	list := func() (values []string) {
		if err := stored.All(t.Context(), nc, "KV_b", "$KV.b.>", func(m *stored.Message) error {
			values = append(values, string(m.Data))
			if time.Since(m.Time).Abs() > time.Minute {
				t.Errorf("stored at %v", m.Time)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return values
	}
	if all := list(); len(all) != 0 {
		t.Errorf("%q", all)
	}
	const n = 512
	for i := range n {
		if _, err := kv.PutString(t.Context(), fmt.Sprintf("k.%d", i), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if all := list(); len(all) != n || all[0] != "0" || all[n-1] != "511" {
		t.Errorf("%d values, %q", len(all), all)
	}
	if _, err := kv.PutString(t.Context(), "k.0", "changed"); err != nil {
		t.Fatal(err)
	}
	if all := list(); len(all) != n || all[0] != "1" || all[n-1] != "changed" {
		t.Errorf("%d values, %q", len(all), all)
	}
	broken := errors.New("broken")
	if err := stored.All(t.Context(), nc, "KV_b", "$KV.b.>", func(*stored.Message) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := stored.All(t.Context(), nc, "KV_none", ">", func(*stored.Message) error { return nil }); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("of no stream: %v", err)
	}
}

// Values that have more bytes than a server holds back for a client are all listed.
func TestAllOfLargeValues(t *testing.T) {
	nc, js := serveWith(t, &server.Options{MaxPending: 8 << 20})
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	const n = 40
	for i := range n {
		if _, err := kv.Put(t.Context(), fmt.Sprint(i), make([]byte, 512<<10)); err != nil {
			t.Fatal(err)
		}
	}
	listed := 0
	if err := stored.All(t.Context(), nc, "KV_b", "$KV.b.>", func(*stored.Message) error { listed++; return nil }); err != nil || listed != n {
		t.Errorf("%d of %d values, %v", listed, n, err)
	}
}

// What the client of NATS stores is read; what is no object, is too large or was changed is refused.
func TestObjects(t *testing.T) {
	nc, js := serve(t)
	store, err := js.CreateObjectStore(t.Context(), jetstream.ObjectStoreConfig{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	o := &stored.Objects{NC: nc, Bucket: "b"}
	if _, err := o.Info(t.Context(), "none"); !errors.Is(err, stored.ErrNone) {
		t.Errorf("no object: %v", err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 128 << 10, 300_000} {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		if _, err := store.PutBytes(t.Context(), "a/b", data); err != nil {
			t.Fatal(err)
		}
		info, err := o.Info(t.Context(), "a/b")
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := o.Copy(t.Context(), &got, info, int64(size)); err != nil || !bytes.Equal(got.Bytes(), data) {
			t.Errorf("%d bytes: %d read, %v", size, got.Len(), err)
		}
		if size == 0 {
			continue
		}
		if err := o.Copy(t.Context(), &got, info, int64(size-1)); !errors.Is(err, stored.ErrLarge) {
			t.Errorf("too large: %v", err)
		}
		lying := *info
		lying.Size--
		if err := o.Copy(t.Context(), &got, &lying, 1<<20); !errors.Is(err, stored.ErrChanged) {
			t.Errorf("more than it says: %v", err)
		}
		lying = *info
		lying.Chunks = 1 << 30 // each is asked for
		if err := o.Copy(t.Context(), &got, &lying, 1<<20); !errors.Is(err, stored.ErrChanged) {
			t.Errorf("in many chunks: %v", err)
		}
		lying = *info
		lying.Chunks++
		if err := o.Copy(t.Context(), &got, &lying, 1<<20); !errors.Is(err, stored.ErrChanged) {
			t.Errorf("less than it says: %v", err)
		}
		if _, err := nc.Request("$O.b.C."+info.NUID, []byte("x"), 5*time.Second); err != nil {
			t.Fatal(err)
		}
		lying = *info
		lying.Digest = "SHA-256=x"
		if err := o.Copy(t.Context(), &got, &lying, 1<<20); !errors.Is(err, stored.ErrChanged) {
			t.Errorf("another digest: %v", err)
		}
	}
	info, err := store.GetInfo(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.AddLink(t.Context(), "link", info); err != nil {
		t.Fatal(err)
	}
	link, err := o.Info(t.Context(), "link")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Copy(t.Context(), &bytes.Buffer{}, link, 1<<20); !errors.Is(err, stored.ErrLink) {
		t.Errorf("a link: %v", err)
	}
	if err := store.Delete(t.Context(), "a/b"); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Info(t.Context(), "a/b"); !errors.Is(err, stored.ErrNone) {
		t.Errorf("a deleted one: %v", err)
	}
}
