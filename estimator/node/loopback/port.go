// Package loopback reserves ports for servers that tests and studies start later, or stop and start again.
package loopback

import "net"

// Reserve returns a port of 127.0.0.1 on which nobody listens, and what gives it back. Two ends of a connection hold it
// until then, as a server that starts again finds it: a program that asks for any port is not given this one, and a
// server that asks for this one gets it.
func Reserve() (port int, release func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return 0, nil, err
	}
	held, err := l.Accept()
	if err != nil {
		client.Close()
		return 0, nil, err
	}
	release = func() error {
		client.Close()
		return held.Close()
	}
	return l.Addr().(*net.TCPAddr).Port, release, nil
}

// Test is what ReservedPort needs of a *testing.T.
type Test interface {
	Helper()
	Fatal(args ...any)
	Cleanup(func())
}

// ReservedPort reserves a port until the test ends.
func ReservedPort(t Test) int {
	t.Helper()
	port, release, err := Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { release() })
	return port
}
