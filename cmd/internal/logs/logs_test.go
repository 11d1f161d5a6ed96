package logs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/ardupilot"
	"github.com/dgm-robotics/dgm/bridge/mcap"
	"github.com/dgm-robotics/dgm/bridge/ulog"
	"github.com/dgm-robotics/dgm/cmd/internal/logs"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// What is no flight log is answered with what it is and what to do.
func TestOtherFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, remedy string }{
		"flights.csv": {"t,angle,rate\n0,1,2\n", "flights.csv --suggest > map.toml"},
		"utf16.csv":   {"\xff\xfet\x00,\x00x\x00\n\x00", "dgm-bridge import csv"},
		"umlauts.csv": {strings.Repeat("ä", 256)[1:], "dgm-bridge"},
		"packed.gz":   {"\x1f\x8b\x08", "dgm-bridge import csv"},
		"log.ulg":     {string(ulog.Magic) + "\x01", "dgm-bridge import ulog"},
		"LOG1.BIN":    {string(ardupilot.Magic) + "\x80", "dgm-bridge import ardupilot"},
		"log.mcap":    {string(mcap.Magic) + strings.Repeat("\x01", 64), "dgm-bridge import mcap"},
		"old.bag":     {"#ROSBAG V2.0\n", "dgm-bridge import bag"},
		"bag.db3":     {"SQLite format 3\x00", "dgm-bridge import db3"},
		"card":        {"\xbc\x01\x00\x03\x00" + strings.Repeat("\x01", 64), "dgm-bridge import crazyflie"},
		"sent.tlog":   {"\x00\x05\xe7\x01\x02\x03\x04\x05\xfd\x01", "dgm-bridge import mavlink"},
		"flight.dgm":  {"\x95\xa9dgm-model\x03", "this is a model: dgm-bridge info"},
		"out.msgpack": {"\x93\x01\xce\x87\xdc\x6f\x70\xc4\x85\xdc\x00\x11\xabdgm-journal\x01", "dgm-estimator replay"},
		"noise":       {"\x00\x01\x02\x03", "dgm-bridge topics"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := logs.Read(path)
		_, of := logs.Header(path)
		_, described := logs.Inspect(path)
		for _, e := range []error{err, of, described} {
			if !errors.Is(e, flightlog.ErrNotLog) || !strings.Contains(e.Error(), c.remedy) || strings.Count(e.Error(), path) > 3 || !strings.HasPrefix(e.Error(), path) {
				t.Errorf("%s: %v", name, e)
			}
		}
	}
	if _, err := logs.Read(dir); err == nil || !strings.Contains(err.Error(), "is a folder; give its files") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := logs.Read(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestFlightLogsAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.msgpack")
	f, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "shaft", Channels: []channel.Channel{{Name: "rate", Role: channel.State}}})
	if err == nil {
		err = f.BeginSegment("one", nil)
	}
	if err == nil {
		err = f.Sample(0, []float64{1}, nil, nil)
	}
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	log, err := logs.Read(path)
	header, e := logs.Header(path)
	if err != nil || e != nil || len(log.Segments) != 1 || len(header.Channels) != 1 || header.Channels[0].Name != "rate" {
		t.Errorf("%v, %v: %+v, %+v", err, e, log, header)
	}
}
