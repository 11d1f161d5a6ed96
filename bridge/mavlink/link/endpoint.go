package link

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/bluenviron/gomavlib/v3"
	"github.com/bluenviron/gomavlib/v3/pkg/frame"
)

// Endpoint reads where a link goes to:
//
//	udp:14550                       listens for programs of this computer
//	udp:0.0.0.0:14550               listens for whoever sends there
//	udpout:192.168.1.10:14550       sends there, and receives the answers
//	tcp:127.0.0.1:5760              connects
//	tcpin:5760                      listens for programs of this computer
//	serial:/dev/ttyAMA0:921600      a port and its rate; 57600 by default
func Endpoint(text string) (gomavlib.EndpointConf, error) {
	kind, rest, ok := strings.Cut(text, ":")
	bad := func(why string) error {
		return fmt.Errorf("link %q: %s; write udp:14550, udp:0.0.0.0:14550, udpout:host:port, tcp:host:port, tcpin:port or serial:device:rate", text, why)
	}
	if !ok || rest == "" {
		return nil, bad("no address given")
	}
	if kind == "serial" {
		at := strings.LastIndexByte(rest, ':')
		if at < 0 {
			return gomavlib.EndpointSerial{Device: rest, Baud: 57600}, nil
		}
		baud, err := strconv.Atoi(rest[at+1:])
		if err != nil || baud <= 0 {
			return nil, bad(fmt.Sprintf("%q is not a rate", rest[at+1:]))
		}
		return gomavlib.EndpointSerial{Device: rest[:at], Baud: baud}, nil
	}
	if !strings.Contains(rest, ":") {
		rest = "127.0.0.1:" + rest // a link without signatures believes whoever reaches it
	}
	_, port, err := net.SplitHostPort(rest)
	if n, errPort := strconv.ParseUint(port, 10, 16); err != nil || errPort != nil || n == 0 {
		return nil, bad("it needs a port")
	}
	switch kind {
	case "udp", "udpin":
		return gomavlib.EndpointUDPServer{Address: rest}, nil
	case "udpout":
		return gomavlib.EndpointUDPClient{Address: rest}, nil
	case "tcp", "tcpout":
		return gomavlib.EndpointTCPClient{Address: rest}, nil
	case "tcpin":
		return gomavlib.EndpointTCPServer{Address: rest}, nil
	}
	return nil, bad(fmt.Sprintf("%q is not known", kind))
}

// ReadKey reads a signing key from a file: 64 hexadecimal digits.
func ReadKey(path string) (*frame.V2Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != len(frame.V2Key{}) {
		return nil, fmt.Errorf("%s: a signing key is 32 bytes, 64 hexadecimal digits: make one with openssl rand -hex 32, and give it to the autopilot too", path)
	}
	return frame.NewV2Key(key), nil
}
