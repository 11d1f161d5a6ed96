// Package logs reads the flight logs that a command is given, and answers a file that is
// something else with what it is and how it becomes a flight log.
package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/flightlog/inspect"
)

// Read returns a flight log.
func Read(path string) (*flightlog.Log, error) {
	log, err := flightlog.ReadFile(path)
	return log, Explained(path, err)
}

// Header returns the header of a flight log without reading its samples.
func Header(path string) (h flightlog.Header, err error) {
	r, err := flightlog.OpenFile(path)
	if err != nil {
		return h, Explained(path, err)
	}
	defer r.Close()
	return r.Header(), nil
}

// Inspect describes a flight log and its damage.
func Inspect(path string) (*inspect.Report, error) {
	r, err := inspect.File(path)
	return r, Explained(path, err)
}

// kind is a file that is not a flight log, and what makes one of it.
type kind struct{ begins, what, remedy string }

var kinds = []kind{
	{"ULog\x01\x12\x35", "a PX4 log", "dgm-bridge import ulog"},
	{"\xa3\x95\x80", "an ArduPilot log", "dgm-bridge import ardupilot"},
	{"\x89MCAP0\r\n", "an MCAP file", "dgm-bridge import mcap"},
	{"#ROSBAG V2.0", "a bag of ROS 1", "dgm-bridge import bag"},
	{"SQLite format 3\x00", "a database, such as a bag of ROS 2", "dgm-bridge import db3"},
	{"\x1f\x8b", "a packed file", "dgm-bridge import csv, if it is a table of text"},
	{"\x28\xb5\x2f\xfd", "a packed file", "dgm-bridge import csv, if it is a table of text"},
}

// own are files of this project, which have their name behind a few bytes.
var own = []kind{
	{"\xaddgm.flightlog", "a flight log", "dgm-bridge info describes it"},
	{"\xa9dgm-model", "a model", "dgm-bridge info describes it"},
	{"\xabdgm-journal", "a recording of dgm-estimator", "dgm-estimator replay --log makes its predictions again, and dgm-bridge record makes flight logs of live states"},
}

// Own says of the beginning of a file of this project what it is and what is done with it;
// "" = it is another file.
func Own(head []byte) string {
	for _, k := range own {
		if bytes.Contains(head[:min(len(head), 32)], []byte(k.begins)) {
			return k.what + ": " + k.remedy
		}
	}
	return ""
}

// Explained adds to the error of a file that is no flight log what it is.
func Explained(path string, err error) error {
	if err == nil {
		return nil
	}
	if info, e := os.Stat(path); e == nil && info.IsDir() {
		return fmt.Errorf("%s: is a folder; give its files", path)
	}
	if !errors.Is(err, flightlog.ErrNotLog) {
		return err
	}
	head, e := beginning(path)
	if e != nil {
		return err
	}
	if what := Own(head); what != "" {
		return fmt.Errorf("%s: %w: this is %s", path, flightlog.ErrNotLog, what)
	}
	for _, k := range kinds {
		if bytes.HasPrefix(head, []byte(k.begins)) {
			return fmt.Errorf("%s: %w: this is %s: %s", path, flightlog.ErrNotLog, k.what, k.remedy)
		}
	}
	const stamp = 8 // bytes of the time before each packet of MAVLink
	switch {
	case len(head) > stamp && head[0] == 0 && (head[stamp] == 0xfd || head[stamp] == 0xfe):
		return fmt.Errorf("%s: %w: this is a telemetry log of MAVLink: dgm-bridge import mavlink", path, flightlog.ErrNotLog)
	case len(head) > 2 && head[0] == 0xbc && head[2] == 0:
		return fmt.Errorf("%s: %w: this is a log of a Crazyflie's micro-SD deck: dgm-bridge import crazyflie", path, flightlog.ErrNotLog)
	case text(head):
		return fmt.Errorf("%s: %w: this is a table or other text; for a table, dgm-bridge topics %s --suggest > map.toml writes a map, and dgm-bridge import csv --map map.toml %s --out flight.msgpack writes a flight log", path, flightlog.ErrNotLog, path, path)
	default:
		return fmt.Errorf("%w; dgm-bridge topics %s shows what it contains, if it is a log of a robot", err, path)
	}
}

// beginning returns the first bytes of a file.
func beginning(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], err
}

// text reports whether bytes are the beginning of a text, in UTF-8, whose last character may
// be cut, or in UTF-16 with the mark of it.
func text(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return true
	}
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 && len(head) >= utf8.UTFMax || r < ' ' && r != '\t' && r != '\r' && r != '\n' {
			return false
		}
		head = head[n:]
	}
	return true
}
