package link_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/mavlink/link"
)

func TestReadKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "link.key")
	for text, good := range map[string]bool{strings.Repeat("0a", 32) + "\n": true, strings.Repeat("0a", 31): false, strings.Repeat("zz", 32): false, "": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := link.ReadKey(path)
		if good && (err != nil || key[31] != 10) || !good && (err == nil || !strings.Contains(err.Error(), path)) {
			t.Errorf("%q: %v, %v", text, key, err)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for text, want := range map[string]string{
		"udp:14550":                  "{127.0.0.1:14550}",
		"udpout:192.168.1.10:14550":  "{192.168.1.10:14550}",
		"tcp:127.0.0.1:5760":         "{127.0.0.1:5760}",
		"tcpin:5760":                 "{127.0.0.1:5760}",
		"udp:0.0.0.0:14550":          "{0.0.0.0:14550}",
		"serial:/dev/ttyAMA0:921600": "{/dev/ttyAMA0 921600}",
		"serial:/dev/ttyUSB0":        "{/dev/ttyUSB0 57600}",
	} {
		if e, err := link.Endpoint(text); err != nil || fmt.Sprint(e) != want {
			t.Errorf("%s: %v, %v", text, e, err)
		}
	}
	for text, want := range map[string]string{"": "no address given", "udp:": "no address given", "udp:x": "it needs a port", "udp:1.2.3.4:99999": "it needs a port", "foo:1": `"foo" is not known`, "serial:/dev/x:fast": "is not a rate"} {
		if _, err := link.Endpoint(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "write udp:14550") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
