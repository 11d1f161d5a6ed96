package foxglove_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestOrigins(t *testing.T) {
	s := serve(t)
	for origin, want := range map[string]int{
		"": 101, "https://app.foxglove.dev": 101, "file://": 101, "http://localhost:8080": 101, "http://127.0.0.1": 101, "http://[::1]:3000": 101,
		"https://mine.example:8443": 101, "https://mine.example": 403, "http://app.foxglove.dev": 403, "https://app.foxglove.dev.evil.example": 403,
		"http://evil.example": 403, "null": 403, "http://localhost.evil.example": 403, "http://10.0.0.1": 403, "app://localhost": 403,
		"http://" + s.Address() + "@evil.example": 403,
	} {
		r, err := http.NewRequest(http.MethodGet, "http://"+s.Address(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "foxglove.websocket.v1"} {
			r.Header.Set(k, v)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
			r.Host = strings.TrimPrefix(strings.TrimPrefix(origin, "http://"), "https://") // as a name that leads here has it
		}
		resp, err := new(http.Transport).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("origin %q: %d, expected %d", origin, resp.StatusCode, want)
		}
	}
}

func TestConnectionsThatAskForNothingEnd(t *testing.T) {
	s := serve(t)
	for range 200 {
		c, err := net.Dial("tcp", s.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(c); err != nil || !strings.Contains(string(answer), "400") {
			t.Fatalf("the connection stays: %q, %v", answer, err)
		}
	}
	dial(t, s)
}

func TestClientsWithoutSubscriptionsMakeRoom(t *testing.T) {
	s := serve(t)
	s.SetPatience(0)
	first := dial(t, s)
	first.frame(t)
	first.frame(t)
	first.send(t, 0x81, `{"op":"subscribe","subscriptions":[{"id":1,"channelId":0}]}`)
	first.send(t, 0x89, "")
	first.frame(t)
	for range 40 {
		c := dial(t, s)
		c.frame(t)
		c.frame(t)
	}
	if n := s.Clients(); n != 32 {
		t.Errorf("%d clients", n)
	}
	s.Send(0, 1, []byte("x"))
	if op, p := first.frame(t); op != 0x82 || string(p[13:]) != "x" {
		t.Errorf("who subscribed gets %#x %q", op, p)
	}
}

func TestManyClients(t *testing.T) {
	s := serve(t)
	var all []*raw
	for range 32 {
		c := dial(t, s)
		c.frame(t) // it is one of the clients once the channels are advertised to it
		c.frame(t)
		all = append(all, c)
	}
	request := func() (int, string) {
		c, err := net.Dial("tcp", s.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: foxglove.websocket.v1\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode == http.StatusSwitchingProtocols {
			return resp.StatusCode, ""
		}
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return resp.StatusCode, string(body)
	}
	if code, body := request(); code != http.StatusServiceUnavailable || !strings.Contains(body, "32 clients are connected") {
		t.Errorf("one too many: %d, %q", code, body)
	}
	if err := all[0].Close(); err != nil {
		t.Fatal(err)
	}
	awaitClients(t, s, 31)
	if code, _ := request(); code != http.StatusSwitchingProtocols {
		t.Errorf("after one has gone: %d", code)
	}
}
