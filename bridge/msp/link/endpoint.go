package link

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"go.bug.st/serial"
)

// Endpoint is where a flight controller is.
type Endpoint struct {
	network, address string // network is tcp or serial; address is that, or the device
	rate             int    // bits a second, of a serial port
}

// usualRate is that of MSP, bits a second.
const usualRate = 115200

// ParseEndpoint reads where a link goes to:
//
//	tcp:127.0.0.1:5761             connects
//	serial:/dev/ttyACM0:115200     a port and its rate; 115200 by default
func ParseEndpoint(text string) (e Endpoint, err error) {
	bad := func(why string) (Endpoint, error) {
		return e, fmt.Errorf("link %q: %s; write tcp:host:port or serial:device:rate", text, why)
	}
	kind, rest, ok := strings.Cut(text, ":")
	if !ok || rest == "" {
		return bad("no address given")
	}
	switch kind {
	case "tcp":
		_, port, err := net.SplitHostPort(rest)
		if n, errPort := strconv.ParseUint(port, 10, 16); err != nil || errPort != nil || n == 0 {
			return bad("it needs a host and a port")
		}
		return Endpoint{network: kind, address: rest}, nil
	case "serial":
		device, rate, ok := strings.Cut(rest, ":")
		n := usualRate
		if ok {
			if n, err = strconv.Atoi(rate); err != nil || n <= 0 {
				return bad(fmt.Sprintf("%q is not a rate", rate))
			}
		}
		if device == "" {
			return bad("no device given")
		}
		return Endpoint{network: kind, address: device, rate: n}, nil
	}
	return bad(fmt.Sprintf("%q is not known", kind))
}

func (e *Endpoint) String() string { return e.network + ":" + e.address }

// dialling is how long a connection may take.
const dialling = 5 * time.Second

// open opens the line.
func (e *Endpoint) open(ctx context.Context) (io.ReadWriteCloser, error) {
	if e.network == "serial" {
		return serial.Open(e.address, &serial.Mode{BaudRate: e.rate})
	}
	d := net.Dialer{Timeout: dialling}
	return d.DialContext(ctx, e.network, e.address)
}
