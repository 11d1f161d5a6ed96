package link_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// plug opens a pseudo terminal and lets name point at it, as a serial adapter that is plugged in. It returns the controller's side.
func plug(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals here: ", err)
	}
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

// A serial adapter may be plugged in after the link was started, be pulled out, and come back.
func TestSerialPort(t *testing.T) {
	t.Parallel()
	nc := serve(t)
	name := filepath.Join(t.TempDir(), "tty")
	r := run(t, nc, "serial:"+name, nil)
	within(t, "a failure", func() bool { return r.said("it is tried again") })
	for range 2 {
		before := r.n.States.Load()
		end := plug(t, name)
		go newController().serve(end)
		within(t, "a state by the serial port", func() bool { return r.n.States.Load() > before+20 })
		if err := end.Close(); err != nil {
			t.Fatal(err)
		}
	}
	right(t, r.got())
}
