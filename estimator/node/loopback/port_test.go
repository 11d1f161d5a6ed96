package loopback

import (
	"fmt"
	"net"
	"testing"
)

// A server gets the port that is reserved, again and again; nobody else is given it.
func TestReservedPort(t *testing.T) {
	port := ReservedPort(t)
	for range 3 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	for range 1000 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		if l.Addr().(*net.TCPAddr).Port == port {
			t.Fatalf("port %d is given to another", port)
		}
	}
}

// A port that is given back is free of its connection.
func TestRelease(t *testing.T) {
	port, release, err := Reserve()
	if err != nil || port == 0 {
		t.Fatal(port, err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if release() == nil {
		t.Error("the connection was still open after its end")
	}
}
