package foxglove_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dgm-robotics/dgm/bridge/foxglove"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a server with one channel until the end of the test.
func serve(t *testing.T) *foxglove.Server {
	t.Helper()
	s, err := foxglove.Listen("127.0.0.1:0", "test", append([]string{"https://mine.example:8443"}, foxglove.Origins...))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	s.Add(foxglove.Channel{Topic: "/a", Encoding: "json", SchemaName: "A", SchemaEncoding: "jsonschema", Schema: `{"type":"object"}`})
	return s
}

// A client of another library, in Python, gets server, channels and messages.
func TestRealClient(t *testing.T) {
	python := os.Getenv("DGM_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import websockets").Run(); err != nil {
		t.Skip("websockets is not here: install it, and name its interpreter in DGM_PYTHON")
	}
	s := serve(t)
	cmd := exec.Command(python, filepath.Join("testdata", "client.py"), "ws://"+s.Address(), "3")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); line != "subscribed\n" {
		t.Fatal(line, err)
	}
	for i := range 3 {
		s.Send(0, 1_700_000_000_000_000_001+int64(i), fmt.Appendf(nil, `{"x":%d}`, i))
	}
	text, err := io.ReadAll(r)
	if err != nil || cmd.Wait() != nil {
		t.Fatal(err)
	}
	var got struct {
		Protocol string
		Info     struct{ Op, Name string }
		Channels []struct {
			ID                         int
			Topic, Encoding, Schema    string
			SchemaName, SchemaEncoding string
		}
		Messages []struct {
			Op, Subscription int
			T                uint64
			Data             map[string]int
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err, string(text))
	}
	if got.Protocol != "foxglove.websocket.v1" || got.Info.Op != "serverInfo" || got.Info.Name != "test" || len(got.Channels) != 1 || got.Channels[0].Topic != "/a" || got.Channels[0].SchemaEncoding != "jsonschema" {
		t.Errorf("%+v", got)
	}
	for i, m := range got.Messages {
		if m.Op != 1 || m.Subscription != 100 || m.T != 1_700_000_000_000_000_001+uint64(i) || m.Data["x"] != i {
			t.Errorf("message %d: %+v", i, m)
		}
	}
}

// raw is a connection of this test's own, frame by frame.
type raw struct {
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, s *foxglove.Server) *raw {
	t.Helper()
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	// The key and its answer are those of RFC 6455, section 1.3.
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: other, foxglove.websocket.v1\r\n\r\n")
	w := &raw{c, bufio.NewReader(c)}
	resp, err := http.ReadResponse(w.r, nil)
	if err != nil || resp.StatusCode != 101 || resp.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" || resp.Header.Get("Sec-WebSocket-Protocol") != "foxglove.websocket.v1" {
		t.Fatal(resp, err)
	}
	return w
}

// frame reads a frame of the server.
func (w *raw) frame(t *testing.T) (op byte, payload []byte) {
	t.Helper()
	head := make([]byte, 2)
	if _, err := io.ReadFull(w.r, head); err != nil {
		t.Fatal(err)
	}
	n := uint64(head[1])
	long := make([]byte, 8)
	switch n {
	case 126:
		_, err := io.ReadFull(w.r, long[:2])
		if err != nil {
			t.Fatal(err)
		}
		n = uint64(binary.BigEndian.Uint16(long))
	case 127:
		if _, err := io.ReadFull(w.r, long); err != nil {
			t.Fatal(err)
		}
		n = binary.BigEndian.Uint64(long)
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(w.r, payload); err != nil {
		t.Fatal(err)
	}
	return head[0], payload
}

// send sends a frame as a client does, masked.
func (w *raw) send(t *testing.T, first byte, payload string) {
	t.Helper()
	b := []byte{first, 0x80 | byte(min(len(payload), 126))}
	if len(payload) >= 126 {
		b = binary.BigEndian.AppendUint16(b, uint16(len(payload)))
	}
	b = append(b, 1, 2, 3, 4)
	for i := range len(payload) {
		b = append(b, payload[i]^byte(i%4+1))
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
}

// awaitClients waits for up to a minute until so many clients are connected.
func awaitClients(t *testing.T, s *foxglove.Server, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); s.Clients() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d clients, expected %d", s.Clients(), n)
		}
	}
}

func TestFramesInPiecesLongOnesAndPings(t *testing.T) {
	s := serve(t)
	w := dial(t, s)
	w.frame(t)
	if _, p := w.frame(t); !strings.Contains(string(p), `"topic":"/a"`) {
		t.Fatalf("%s", p)
	}
	w.send(t, 0x01, `{"op":"subscribe","subscrip`) // a text in two pieces, with a ping between
	w.send(t, 0x89, "are you there")
	w.send(t, 0x80, `tions":[{"id":7,"channelId":0},{"id":8,"channelId":99}]}`)
	if op, p := w.frame(t); op != 0x8A || string(p) != "are you there" {
		t.Fatalf("%#x %s", op, p)
	}
	w.send(t, 0x89, "and my request") // answered behind it
	if op, _ := w.frame(t); op != 0x8A {
		t.Fatalf("%#x", op)
	}
	n := s.Add(foxglove.Channel{Topic: "/later", Encoding: "json"})
	if _, p := w.frame(t); n != 1 || !strings.Contains(string(p), `"id":1,"topic":"/later"`) {
		t.Fatalf("%d %s", n, p)
	}
	for _, size := range []int{10, 113, 65522, 65523, 100_000} { // at the edges of the three lengths of frames
		s.Send(0, 5, []byte(strings.Repeat("x", size)))
		if op, p := w.frame(t); op != 0x82 || len(p) != 13+size || p[0] != 1 || binary.LittleEndian.Uint32(p[1:]) != 7 || binary.LittleEndian.Uint64(p[5:]) != 5 {
			t.Fatalf("%d: %#x, %d bytes", size, op, len(p))
		}
	}
	w.send(t, 0x81, `{"op":"unsubscribe","subscriptionIds":[7]}`)
	w.send(t, 0x89, "")
	if op, _ := w.frame(t); op != 0x8A {
		t.Fatalf("%#x", op)
	}
	s.Send(0, 5, []byte("not wanted any more"))
	w.send(t, 0x88, "\x03\xe8bye")
	if op, p := w.frame(t); op != 0x88 || !strings.HasPrefix(string(p), "\x03\xe8") {
		t.Fatalf("%#x %q", op, p)
	}
	awaitClients(t, s, 0)
}

// What a client must not do ends its connection and nobody else's.
func TestBadClients(t *testing.T) {
	s := serve(t)
	good := dial(t, s)
	good.frame(t)
	good.frame(t)
	for name, bytes := range map[string]string{
		"no mask":          "\x81\x02{}",
		"an extension":     "\xc1\x80\x01\x02\x03\x04",
		"a long message":   "\x81\xff\x00\x00\x00\x00\x00\x20\x00\x00\x01\x02\x03\x04" + strings.Repeat("x", 2<<20),
		"a long ping":      "\x89\xfe\x01\x00\x01\x02\x03\x04",
		"a ping in pieces": "\x09\x80\x01\x02\x03\x04",
		"an unknown kind":  "\x83\x80\x01\x02\x03\x04",
	} {
		bad := dial(t, s)
		bad.frame(t)
		bad.frame(t)
		// The server may end the connection before it has read everything.
		_, _ = io.WriteString(bad, bytes)
		if _, err := io.ReadAll(bad.r); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the connection stays", name)
		}
	}
	good.send(t, 0x81, "no JSON")
	good.send(t, 0x81, `{"op":"dance"}`)
	good.send(t, 0x89, "x")
	if op, _ := good.frame(t); op != 0x8A {
		t.Error("another client lost its connection")
	}
	const upgrade = "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: "
	for request, want := range map[string]int{
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n":                                             http.StatusBadRequest,
		upgrade + "foxglove.websocket.v1\r\nSec-WebSocket-Version: 8\r\n\r\n":                                http.StatusBadRequest,
		upgrade + "foxglove.websocket.v1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n":       http.StatusBadRequest,
		upgrade + "chat\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n": http.StatusBadRequest,
	} {
		c, err := net.Dial("tcp", s.Address())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		resp.Body.Close()
		c.Close()
		if resp.StatusCode != want || len(body) == 0 {
			t.Errorf("%q: %d %s, want %d", request, resp.StatusCode, body, want)
		}
	}
}

// A page is served where its origin is this computer, Foxglove or named; programs have none.
// A connection serves one request: what asks for nothing keeps nobody out.
// Clients that never subscribe make room for others.
// More clients than are served are refused, and one that leaves makes room.
// A channel is sent to a client once, however often it subscribes to it.
func TestManySubscriptionsOfOneChannel(t *testing.T) {
	s := serve(t)
	w := dial(t, s)
	w.frame(t)
	w.frame(t)
	w.send(t, 0x81, `{"op":"subscribe","subscriptions":[{"id":1,"channelId":0},{"id":2,"channelId":0},{"id":3,"channelId":0}]}`)
	w.send(t, 0x89, "")
	w.frame(t)
	s.Send(0, 5, []byte("one"))
	s.Send(0, 6, []byte("two"))
	for _, want := range []string{"one", "two"} {
		if _, p := w.frame(t); binary.LittleEndian.Uint32(p[1:]) != 3 || string(p[13:]) != want {
			t.Errorf("subscription %d: %s, expected %s", binary.LittleEndian.Uint32(p[1:]), p[13:], want)
		}
	}
}

// A client that does not read loses old messages; the sender never waits.
func TestSlowClient(t *testing.T) {
	s := serve(t)
	w := dial(t, s)
	w.frame(t)
	w.frame(t)
	w.send(t, 0x81, `{"op":"subscribe","subscriptions":[{"id":1,"channelId":0}]}`)
	w.send(t, 0x89, "")
	w.frame(t)
	data := make([]byte, 100_000)
	for i := range 2000 { // nobody reads meanwhile: a Send that waited would not end
		s.Send(0, int64(i), data)
	}
	last, n := uint64(0), 0
	for last != 1999 {
		_, p := w.frame(t)
		at := binary.LittleEndian.Uint64(p[5:])
		if n > 0 && at <= last {
			t.Fatalf("%d after %d", at, last)
		}
		last = at
		n++
	}
	if n == 2000 {
		t.Error("everything was kept for a client that did not read")
	}
}
