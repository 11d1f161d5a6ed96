package link_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/bluenviron/gomavlib/v3"
	"golang.org/x/sys/unix"

	"github.com/dgm-robotics/dgm/bridge/mavlink/autopilot"
	"github.com/dgm-robotics/dgm/bridge/mavlink/link"
)

// plug opens a pseudo terminal and lets name point at it, as a serial adapter that is
// plugged in. It returns the autopilot's side.
func plug(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals here: ", err)
	}
	t.Cleanup(func() { f.Close() })
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	var failed error
	if err := raw.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed == nil {
			number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	}); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	_ = os.Remove(name) // of the one before
	if err := os.Symlink(fmt.Sprintf("/dev/pts/%d", number), name); err != nil {
		t.Fatal(err)
	}
	return f
}

// adapter is the autopilot's end of a serial line.
type adapter struct{ *os.File }

func (adapter) LocalAddr() net.Addr  { return nil }
func (adapter) RemoteAddr() net.Addr { return nil }

// A serial adapter may be plugged in after the link was started, be pulled out, and
// come back.
func TestRestartsOfASerialPort(t *testing.T) {
	nc := serve(t)
	name := filepath.Join(t.TempDir(), "tty")
	n, _ := run(t, nc, link.Config{Link: "serial:" + name + ":57600", Vehicle: "v1", Channels: autopilot.DefaultChannels()[:12]})
	for range 2 {
		before := n.States.Load()
		end := adapter{plug(t, name)}
		p := fly(t, gomavlib.EndpointCustomClient{Label: "pty", Connect: func(context.Context) (net.Conn, error) { return end, nil }})
		within(t, "a state by the serial port", func() bool { return n.States.Load() > before+5 })
		p.land()
	}
}
