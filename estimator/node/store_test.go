package node

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/loopback"
	"github.com/dgm-robotics/dgm/estimator/node/stored"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// signed counts the files that are signed.
var signed atomic.Uint64

// signedFile signs with a larger number each time.
func signedFile(t *testing.T, m *model.Model, key ed25519.PrivateKey) []byte {
	t.Helper()
	b, err := m.Encode()
	if err == nil && key != nil {
		b, err = model.Sign(b, key, model.Statement{Vehicle: "v1", Sequence: signed.Add(1)})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// modelBucket makes the bucket that models come from.
func modelBucket(t *testing.T, client *nats.Conn) (nats.JetStreamContext, nats.ObjectStore) {
	t.Helper()
	js, err := client.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.CreateObjectStore(&nats.ObjectStoreConfig{Bucket: "models"})
	if err != nil {
		t.Fatal(err)
	}
	return js, bucket
}

// watchBucket offers a node the model v1.dgm of the bucket, until end or the end of the test.
func watchBucket(t *testing.T, n *Node, link *nats.Conn) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.watch(ctx, newStore(link, "models", "v1.dgm", 20*time.Millisecond))
	}()
	end = func() { cancel(); <-done }
	t.Cleanup(end)
	return end
}

// A bucket that is made after the watch began, models put into it, one that is not
// signed, a server that was gone.
func TestModelsComeFromABucket(t *testing.T) {
	dir, port := t.TempDir(), loopback.ReservedPort(t)
	o := func() *server.Options {
		return &server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir}
	}
	s := start(t, o())
	url := s.ClientURL()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	var logged lines
	a := pendulum()
	n, _ := run(t, connect(t, url, nil), Config{Accept: model.Acceptance{Key: key.Public().(ed25519.PublicKey)}, Log: logged.add}, a)
	link := connect(t, url, nil)
	watchBucket(t, n, link)
	eventually(t, "logs that there is no bucket", func() bool { return logged.has("bucket models cannot be watched") })

	client := connect(t, url, nil)
	_, bucket := modelBucket(t, client)
	put := func(name string, b []byte) {
		t.Helper()
		if _, err := bucket.PutBytes(name, b); err != nil {
			t.Fatal(err)
		}
	}
	b, c := otherPendulum(2), otherPendulum(3)
	put("v2.dgm", signedFile(t, c, key)) // of another vehicle
	put("v1.dgm", signedFile(t, b, key))
	eventually(t, "the model was taken", func() bool { return n.Model() == b.ID })
	put("v1.dgm", signedFile(t, c, nil))
	eventually(t, "logs that it is not signed", func() bool { return logged.has("not signed") })
	if n.Model() != b.ID {
		t.Error("an unsigned model was taken")
	}
	if _, err := n.Rollback(); err != nil || n.Model() != a.ID {
		t.Errorf("rolled back to %s: %v", n.Model(), err)
	}

	stopServer(s)
	eventually(t, "the loss is noticed", func() bool { return !link.IsConnected() })
	start(t, o())
	eventually(t, "the client is back", client.IsConnected)
	again := func(name string, b []byte) { // a server that starts loses what comes before its stores are there
		t.Helper()
		eventually(t, name+" is stored", func() bool { _, err := bucket.PutBytes(name, b); return err == nil })
	}
	again("other", []byte("something that moves the watch"))
	again("v1.dgm", signedFile(t, c, key))
	eventually(t, "the model put after the loss was taken", func() bool { return n.Model() == c.ID })
	statuses := listen(t, client, wire.AllStatuses)
	st := statuses.status("three swaps", func(s *wire.Status) bool { return s.Swaps == 3 })
	if st.Model != c.ID || strings.Contains(st.Refused, "signed") {
		t.Errorf("status %+v", st)
	}
}

// What a bucket says of an object's size is not what is read.
func TestTheSizeThatABucketStatesIsNotTrusted(t *testing.T) {
	url := start(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir()}).ClientURL()
	client := connect(t, url, nil)
	js, bucket := modelBucket(t, client)
	info, err := bucket.PutBytes("v1.dgm", make([]byte, model.MaxFile+1))
	if err != nil {
		t.Fatal(err)
	}
	info.Size = 1000
	meta, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	m := nats.NewMsg("$O.models.M." + base64.URLEncoding.EncodeToString([]byte("v1.dgm")))
	m.Header.Set(nats.MsgRollup, nats.MsgRollupSubject)
	m.Data = meta
	if _, err := js.PublishMsg(m); err != nil {
		t.Fatal(err)
	}
	var logged lines
	a := pendulum()
	n, _ := run(t, connect(t, url, nil), Config{Log: logged.add}, a)
	watchBucket(t, n, client)
	eventually(t, "logs what was read", func() bool { return logged.has("it was changed while it was read, or is damaged") })
	if n.Model() != a.ID {
		t.Errorf("model %s is in use", n.Model())
	}
}

// breaking is a bucket of which reading an object fails a number of times.
type breaking struct {
	objects
	fails int
}

func (b *breaking) Copy(ctx context.Context, to io.Writer, info *stored.Info, most int64) error {
	if b.fails--; b.fails >= 0 {
		return nats.ErrTimeout
	}
	return b.objects.Copy(ctx, to, info, most)
}

// A model and a shadow whose reading broke off are read again; what a link leads to is not read.
func TestAModelIsReadAgainAfterTheLinkBroke(t *testing.T) {
	url := start(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir()}).ClientURL()
	client := connect(t, url, nil)
	_, bucket := modelBucket(t, client)
	a, b, c := pendulum(), otherPendulum(2), otherPendulum(3)
	n, err := New(Config{Vehicle: "v1"}, a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.PutBytes("v1.dgm", signedFile(t, b, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.PutBytes("v1.shadow.dgm", signedFile(t, c, nil)); err != nil {
		t.Fatal(err)
	}
	s := newStore(client, "models", "v1.dgm", 0)
	s.from = &breaking{s.from, 4}
	for range 2 {
		if err := s.poll(t.Context(), n); err != nil || n.Model() != a.ID || n.models.shadow.Load() != nil {
			t.Fatalf("model %s, %v", n.Model(), err)
		}
	}
	for range 2 { // the shadow is offered before the model, and beside that one, too
		if err := s.poll(t.Context(), n); err != nil || n.Model() != b.ID {
			t.Fatalf("model %s, %v", n.Model(), err)
		}
	}
	if sh := n.models.shadow.Load(); sh == nil || sh.of != b.ID {
		t.Errorf("shadow %+v", sh)
	}
	info, err := bucket.PutBytes("target", signedFile(t, c, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bucket.AddLink("v1.link.dgm", info); err != nil {
		t.Fatal(err)
	}
	s.object = "v1.link.dgm"
	if err := s.poll(t.Context(), n); err != nil || n.Model() != b.ID || !strings.Contains(*n.models.refused.Load(), stored.ErrLink.Error()) {
		t.Errorf("model %s, %v", n.Model(), err)
	}
}

// Files of a bucket that are refused, each another, are logged a few times.
func TestRefusedFilesOfABucketAreLoggedAFewTimes(t *testing.T) {
	var logged lines
	n, err := New(Config{Vehicle: "v1", Log: logged.add}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		n.offer("object v1.dgm of bucket models", true, func() ([]byte, error) { return []byte{byte(i)}, nil })
	}
	if count := len(logged.lines); count == 0 || count > maxLines {
		t.Errorf("%d lines", count)
	}
}
