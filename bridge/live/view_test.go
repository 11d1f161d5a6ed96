package live_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/bridge/foxglove"
	"github.com/dgm-robotics/dgm/bridge/live"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// States and bands reach a client, by their names, the bands when their time has
// come.
func TestView(t *testing.T) {
	nc := serve(t)
	s, err := foxglove.Listen("127.0.0.1:0", "dgm", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- s.Serve(ctx) }()
	go func() { done <- live.View(ctx, nc, s, live.ViewConfig{Horizons: 2}) }()
	defer func() {
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}()
	eventually(t, "states and predictions are subscribed to", func() bool { return nc.NumSubscriptions() == 3 })
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: foxglove.websocket.v1\r\n\r\n")
	r := bufio.NewReader(c)
	if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != 101 {
		t.Fatal(resp, err)
	}
	publish := func() {
		now := time.Now().UnixNano()
		p := wire.Prediction{Vehicle: "v1", Model: "m", Instance: "i", Seq: 1, T: now, ValidUntil: now + 1e9, Channels: []string{"theta", "omega"}, Units: []string{"rad", ""},
			Horizon: []float64{0.05, 0.1, 0.15, 0.2}, Mean: []float64{1, 2, 3, 4, 5, 6, 7, 8}, Std: make([]float64, 8), ObsStd: []float64{1, 1, 1, 1, 1, 1, 1, 1}, Inputs: "hold"}
		st := wire.State{Seq: 1, T: now, X: []float64{0.5, -0.5}, U: []float64{9}}
		// The robot v3 sends an angle alone.
		e := wire.Estimate{Vehicle: "v3", Model: "m", Instance: "i", Seq: 1, T: now, Channels: p.Channels, Units: p.Units, X: []float64{0.7, 3}, P: []float64{1, 0, 0, 4},
			Settled: true, Innovation: []float64{0, math.NaN()}, Ratio: []float64{0, math.NaN()}, NIS: 0.9, Rejected: 2, Sensors: []string{"theta"}}
		p3, alone := p, wire.State{Seq: 1, T: now, X: []float64{0.6}, U: []float64{9}}
		p3.Vehicle = "v3"
		for subject, data := range map[string][]byte{
			"dgm.predict.v1": p.Append(nil), "dgm.state.v1": st.Append(nil), "dgm.state.v2": []byte("nonsense"),
			"dgm.state.v3": alone.Append(nil), "dgm.estimate.v3": e.Append(nil), "dgm.predict.v3": p3.Append(nil), "dgm.estimate.v2": []byte("nonsense"),
		} {
			if err := nc.Publish(subject, data); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				publish()
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	topics := map[int]string{}
	want := map[string]bool{"/dgm/v1/state": true, "/dgm/v1/input": true, "/dgm/v1/predict/100ms": true, "/dgm/v1/predict/200ms": true, "/dgm/v3/state": true, "/dgm/v3/estimate": true, "/dgm/v3/filter": true, "/dgm/v3/predict/200ms": true}
	for len(want) > 0 {
		head := make([]byte, 2)
		if _, err := io.ReadFull(r, head); err != nil {
			t.Fatal(err, want)
		}
		n := int(head[1])
		if n == 126 {
			if _, err := io.ReadFull(r, head); err != nil {
				t.Fatal(err)
			}
			n = int(binary.BigEndian.Uint16(head))
			head[0] = 0
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil {
			t.Fatal(err)
		}
		if b[0] == '{' {
			var m struct {
				Channels []struct {
					ID    int
					Topic string
				}
			}
			if err := json.Unmarshal(b, &m); err != nil {
				t.Fatal(err)
			}
			for _, ch := range m.Channels {
				topics[ch.ID] = ch.Topic
				request := fmt.Sprintf(`{"op":"subscribe","subscriptions":[{"id":%d,"channelId":%d}]}`, ch.ID, ch.ID)
				frame := []byte{0x81, 0x80 | byte(len(request)), 0, 0, 0, 0}
				if _, err := c.Write(append(frame, request...)); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		name := topics[int(binary.LittleEndian.Uint32(b[1:]))]
		at := int64(binary.LittleEndian.Uint64(b[5:]))
		var doc map[string]any
		if err := json.Unmarshal(b[13:], &doc); err != nil {
			t.Fatal(err)
		}
		if late := time.Now().UnixNano() - at; late < 0 {
			t.Fatalf("%s came %d ns before its time", name, -late)
		}
		switch name {
		case "/dgm/v1/state":
			if doc["theta"] != 0.5 || doc["omega"] != -0.5 {
				t.Fatal(doc)
			}
		case "/dgm/v3/state":
			if _, whole := doc["omega"]; doc["theta"] != 0.6 || whole {
				t.Fatal(doc)
			}
		case "/dgm/v3/estimate":
			omega := doc["omega"].(map[string]any)
			if omega["mean"] != 3.0 || math.Abs(omega["lower"].(float64)-(3-2*1.959963984540054)) > 1e-12 {
				t.Fatal(doc)
			}
		case "/dgm/v3/filter":
			if doc["nis"] != 0.9 || doc["rejected"] != 2.0 {
				t.Fatal(doc)
			}
		case "/dgm/v1/input":
			if doc["u1"] != 9.0 {
				t.Fatal(doc)
			}
		case "/dgm/v1/predict/200ms":
			theta := doc["theta"].(map[string]any)
			stamp, made := doc["stamp"].(map[string]any), doc["made"].(map[string]any)
			ahead := (stamp["sec"].(float64)-made["sec"].(float64))*1e9 + stamp["nsec"].(float64) - made["nsec"].(float64)
			if theta["mean"] != 7.0 || math.Abs(theta["upper"].(float64)-8.959963984540054) > 1e-12 || math.Abs(ahead-2e8) > 2 {
				t.Fatal(doc)
			}
		}
		delete(want, name)
	}
}
