package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node/loopback"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// small is a model of the vehicle that natsServer sends states of.
func small(seed uint64) *model.Model {
	return artificial.New(artificial.Size{K: 2, P: 1, Features: 10, Points: 4, Horizon: 1}, seed)
}

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// awaitPrediction waits for one that satisfies a condition.
func awaitPrediction(t *testing.T, nc *nats.Conn, subject, what string, ok func(p *wire.Prediction) bool) {
	t.Helper()
	sub, err := nc.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	var p wire.Prediction
	for end := time.Now().Add(patience); time.Now().Before(end); {
		m, err := sub.NextMsg(patience)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := p.Decode(m.Data); err != nil {
			t.Fatal(err)
		}
		if ok(&p) {
			return
		}
	}
	t.Fatalf("never: %s; the last: %+v", what, p)
}

// execute runs a command to its end.
func execute(args ...string) (code int, out, messages string) {
	var o, m bytes.Buffer
	root := command()
	root.SetArgs(args)
	root.SetOut(&o)
	root.SetErr(&m)
	code = cli.Run(context.Background(), root)
	return code, o.String(), m.String()
}

func TestRecordAndReplay(t *testing.T) {
	for _, rate := range []string{"0", "100"} {
		url, client := natsServer(t)
		record := filepath.Join(t.TempDir(), "out.msgpack")
		var out, messages buffer
		stop := estimate(t, &out, &messages, "--model", modelFile(t), "--vehicle", "pend1", "--nats", url, "--record", record, "--rate", rate)
		n := 0
		awaitPrediction(t, client, "dgm.predict.pend1", "30 predictions", func(*wire.Prediction) bool { n++; return n == 30 })
		if code := stop(); code != cli.Done {
			t.Fatalf("code %d: %s", code, messages.String())
		}
		code, said, failed := execute("replay", "--log", record)
		if code != cli.Done || !strings.Contains(said, "equal bit for bit") || strings.Contains(said, "power cut") {
			t.Errorf("replay: code %d, %q, %q", code, said, failed)
		}
		whole, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		cut := filepath.Join(t.TempDir(), "cut.msgpack")
		writeFile(t, cut, whole[:200]) // within the model
		if code, said, failed = execute("replay", "--log", cut); code != cli.Failed || !strings.Contains(failed, "cut.msgpack: contains no prediction") {
			t.Errorf("replay of a beginning: code %d, %q, %q", code, said, failed)
		}
		other := filepath.Join(t.TempDir(), "other.dgm")
		if err := model.WriteFile(other, small(7)); err != nil {
			t.Fatal(err)
		}
		code, _, failed = execute("replay", "--log", record, "--model", other)
		if code != cli.Failed || !strings.Contains(failed, "other model") || !regexp.MustCompile("record [3-9],").MatchString(failed) || strings.Count(failed, "\n") != 1 {
			t.Errorf("replay with another model: code %d, %q", code, failed)
		}
		config := filepath.Join(t.TempDir(), "estimator.toml")
		writeFile(t, config, []byte("validity = \"300ms\"\nrate = "+rate+".0\n"))
		code, _, failed = execute("replay", "--log", record, "--config", config)
		if code != cli.Failed || !strings.Contains(failed, "other configuration: validity is 300ms and was 1s") {
			t.Errorf("replay with other settings: code %d, %q", code, failed)
		}
	}
	if code, _, failed := execute("replay"); code != cli.Wrong || !strings.Contains(failed, "--log") {
		t.Errorf("replay of nothing: code %d, %q", code, failed)
	}
	if code, _, failed := execute("replay", "--log", modelFile(t)); code != cli.Failed || failed == "" {
		t.Errorf("replay of a model: code %d, %q", code, failed)
	}
}

// Two vehicles in one process; the model of a third cannot be read, which is
// logged and does not keep the others from being served. On SIGHUP a new model is taken.
func TestSeveralVehicles(t *testing.T) {
	url, client := natsServer(t)
	dir := t.TempDir()
	first, second := small(1), small(2)
	for name, m := range map[string]*model.Model{"a.dgm": first, "b.dgm": second} {
		if err := model.WriteFile(filepath.Join(dir, name), m); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(dir, "c.dgm"), []byte("no model"))
	config := filepath.Join(dir, "estimator.toml")
	writeFile(t, config, fmt.Appendf(nil, `
[nats]
url = %q
[[vehicles]]
vehicle = "pend1"
model = %q
[[vehicles]]
vehicle = "pend2"
model = %q
rate = 50.0
[[vehicles]]
vehicle = "pend3"
model = %q
[metrics]
listen = "127.0.0.1:0"
`, url, filepath.Join(dir, "a.dgm"), filepath.Join(dir, "b.dgm"), filepath.Join(dir, "c.dgm")))
	var out, messages buffer
	stop := estimate(t, &out, &messages, "--config", config)
	state := wire.State{Seq: 1, X: []float64{0.1, 0.2}}
	awaitPrediction(t, client, "dgm.predict.pend1", "the first vehicle's", func(p *wire.Prediction) bool { return p.Model == first.ID && p.Tick == 0 })
	go func() { // the second's states
		for t.Context().Err() == nil {
			state.Seq++
			state.T = time.Now().UnixNano()
			_ = client.Publish("dgm.state.pend2", state.Append(nil))
			time.Sleep(20 * time.Millisecond)
		}
	}()
	awaitPrediction(t, client, "dgm.predict.pend2", "the second vehicle's", func(p *wire.Prediction) bool { return p.Model == second.ID && p.Tick > 0 })
	if !strings.Contains(messages.String(), "c.dgm") {
		t.Errorf("nothing was logged about the third: %s", messages.String())
	}

	third := small(3)
	if err := model.WriteFile(filepath.Join(dir, "a.dgm"), third); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "b.dgm"), []byte("half a model"))
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	awaitPrediction(t, client, "dgm.predict.pend1", "the new model's", func(p *wire.Prediction) bool { return p.Model == third.ID })
	eventually(t, "logs that the second's was refused", func() bool { return strings.Contains(messages.String(), "pend2: the model was refused") })
	if code := stop(); code != cli.Failed {
		t.Errorf("code %d, and one vehicle was not served", code)
	}
	if !strings.Contains(out.String(), "pend1: ") || !strings.Contains(out.String(), "pend2: ") {
		t.Errorf("logged %q", out.String())
	}
	if code, _, failed := execute("--config", config, "--points", "3"); code != cli.Wrong || !strings.Contains(failed, "--points") {
		t.Errorf("a flag for several vehicles: code %d, %q", code, failed)
	}
}

func TestOnlySignedModels(t *testing.T) {
	dir := t.TempDir()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := filepath.Join(dir, "public.pem")
	writeFile(t, public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	plain, err := small(1).Encode()
	if err != nil {
		t.Fatal(err)
	}
	signed, err := model.Sign(plain, key, model.Statement{Vehicle: "pend1", Sequence: 1})
	if err != nil {
		t.Fatal(err)
	}
	path, config := filepath.Join(dir, "flight.dgm"), filepath.Join(dir, "estimator.toml")
	url, client := natsServer(t)
	writeFile(t, config, fmt.Appendf(nil, "model = %q\nvehicle = \"pend1\"\n[nats]\nurl = %q\n[models]\npublic_key = %q\n", path, url, public))
	writeFile(t, path, plain)
	if code, _, failed := execute("--config", config); code != cli.Failed || !strings.Contains(failed, "not signed") || !strings.Contains(failed, path) {
		t.Errorf("unsigned: code %d, %q", code, failed)
	}
	writeFile(t, path, signed)
	var out, messages buffer
	estimate(t, &out, &messages, "--config", config)
	awaitPrediction(t, client, "dgm.predict.pend1", "an answer", func(*wire.Prediction) bool { return true })
}

func TestMetrics(t *testing.T) {
	url, client := natsServer(t)
	c := defaults()
	c.Vehicle, c.Model, c.NATS.URL, c.Status = "pend1", modelFile(t), url, duration(20*time.Millisecond)
	all, failed := prepare(&c, nil, func(string) {})
	if failed != nil {
		t.Fatal(failed)
	}
	defer all[0].nc.Close()
	m := metrics{Listen: "127.0.0.1:0"}
	addr, end, err := m.listen(all)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- all[0].node.Run(ctx, all[0].nc) }()
	awaitPrediction(t, client, "dgm.predict.pend1", "an answer", func(*wire.Prediction) bool { return true })
	get := func() string {
		http.DefaultTransport.(*http.Transport).DisableKeepAlives = true
		r, err := http.Get("http://" + addr + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	eventually(t, "predictions are counted", func() bool {
		text := get()
		return strings.Contains(text, "# TYPE dgm_predictions_total counter\ndgm_predictions_total{vehicle=\"pend1\"} ") &&
			!strings.Contains(text, "dgm_predictions_total{vehicle=\"pend1\"} 0\n") &&
			strings.Contains(text, "dgm_latency_seconds{vehicle=\"pend1\",phase=\"predict\",quantile=\"0.99\"} ") &&
			strings.Contains(text, "dgm_coverage{vehicle=\"pend1\",channel=\"x0\",until=\"0.25\"} ") &&
			strings.Contains(text, "dgm_factor{vehicle=\"pend1\",channel=\"x1\",until=\"0.25\"} ")
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, address := range []string{"0.0.0.0:1", "[::]:1", "example.org:1", "192.168.1.1:1", "localhost:1"} {
		if (&metrics{Listen: address}).check() == nil {
			t.Errorf("%s is taken for the loopback", address)
		}
	}
	if err := (&metrics{Listen: "[::1]:9464"}).check(); err != nil {
		t.Error(err)
	}
}

// The service manager hears that the service is ready when NATS is there, not
// before, then the watchdog's food as long as states are answered.
func TestServiceManager(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan string, 1000)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := l.Read(b)
			if err != nil {
				return
			}
			heard <- string(b[:n])
		}
	}()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "300000")
	t.Setenv("WATCHDOG_PID", fmt.Sprint(os.Getpid()))
	port := loopback.ReservedPort(t)
	var out, messages buffer
	stop := estimate(t, &out, &messages, "--model", modelFile(t), "--vehicle", "pend1", "--nats", fmt.Sprintf("nats://127.0.0.1:%d", port))
	eventually(t, "logs that it tries again", func() bool { return strings.Contains(messages.String(), "trying again") })
	select {
	case s := <-heard:
		t.Fatalf("without a server it logged %q", s)
	case <-time.After(5 * checkLinks):
	}
	startServer(t, port)
	var all strings.Builder
	for end := time.After(patience); !strings.Contains(all.String(), "WATCHDOG=1"); {
		select {
		case s := <-heard:
			if all.Len() == 0 && s != "READY=1" {
				t.Errorf("first it logged %q", s)
			}
			all.WriteString(s + "\n")
		case <-end:
			t.Fatalf("it logged only %q", all.String())
		}
	}
	stop()
	eventually(t, "notifies that it stops", func() bool {
		for len(heard) > 0 {
			all.WriteString(<-heard)
		}
		return strings.Contains(all.String(), "STOPPING=1")
	})
}
