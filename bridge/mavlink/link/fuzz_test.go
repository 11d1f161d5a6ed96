package link

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/bluenviron/gomavlib/v3"
	"github.com/bluenviron/gomavlib/v3/pkg/dialect"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
	"github.com/bluenviron/gomavlib/v3/pkg/frame"
	"github.com/bluenviron/gomavlib/v3/pkg/message"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/mavlink/autopilot"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Whatever comes over a link: no panic, and every state that is made is finite, one for each time.
func FuzzLink(f *testing.F) {
	messagesRW := &dialect.ReadWriter{Dialect: &dialect.Dialect{Version: 3, Messages: messages}}
	if err := messagesRW.Initialize(); err != nil {
		f.Fatal(err)
	}
	var flight bytes.Buffer
	w := &frame.ReadWriter{ByteReadWriter: struct {
		io.Reader
		io.Writer
	}{strings.NewReader(""), &flight}, DialectRW: messagesRW}
	if err := w.Initialize(); err != nil {
		f.Fatal(err)
	}
	all := []message.Message{
		&common.MessageLocalPositionNed{TimeBootMs: 10, X: 1}, &common.MessageAttitudeQuaternion{TimeBootMs: 10, Q1: 1}, &common.MessageServoOutputRaw{TimeUsec: 10000, Servo1Raw: 1500},
		&common.MessageTimesync{Ts1: 5}, &common.MessageTimesync{Tc1: 7, Ts1: 5}, &common.MessageAttitude{TimeBootMs: 20}, &common.MessageLocalPositionNed{TimeBootMs: 1 << 31},
		&common.MessageOdometry{TimeUsec: 1 << 63, Q: [4]float32{1}}, &common.MessageHighresImu{TimeUsec: 30000}, &common.MessageActuatorOutputStatus{TimeUsec: 1, Active: 33},
	}
	for i, m := range all {
		if err := w.Writer.Write(&frame.V2Frame{SequenceNumber: byte(i), SystemID: 1, ComponentID: autopilotID, Message: m}); err != nil {
			f.Skip(err)
		}
	}
	f.Add(flight.Bytes())
	f.Add(flight.Bytes()[3:])
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := autopilot.New(autopilot.DefaultChannels())
		if err != nil {
			t.Fatal(err)
		}
		r := &runner{c: Config{Log: func(string) {}}, n: &Counts{}, a: a, nc: &nats.Conn{}, subject: "s", senders: &senders{}}
		K, P := a.Dims()
		r.state.X, r.u = make([]float64, K), make([]float64, P)
		in := &frame.Reader{BufByteReader: bufio.NewReader(bytes.NewReader(b)), DialectRW: messagesRW}
		if err := in.Initialize(); err != nil {
			t.Fatal(err)
		}
		made := int64(0)
		for range len(b) {
			one, err := in.Read()
			if err != nil {
				if _, bad := err.(frame.ReadError); !bad { //nolint:errorlint // that is the type
					return
				}
				continue
			}
			before := r.last
			r.event(&gomavlib.EventFrame{Frame: one})
			if n := r.n.Unsent.Load(); n > made {
				made = n
				var s wire.State
				if err := s.Decode(r.buf, K, P); err != nil || !number.Finite(s.X) || !number.Finite(s.U) || s.T == before {
					t.Fatalf("state %+v, %v", s, err)
				}
			}
		}
	})
}

// Whatever the text is, it names a link, or the error shows how to.
func FuzzEndpoint(f *testing.F) {
	for _, text := range []string{"udp:14550", "serial:/dev/x:9600", "tcp:[::1]:1", "udp::", "serial::0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if end, err := Endpoint(text); (end == nil) == (err == nil) || err != nil && !strings.Contains(err.Error(), "write udp:14550") {
			t.Fatalf("%v, %v", end, err)
		}
	})
}
