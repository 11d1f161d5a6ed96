package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/ardupilot"
	"github.com/dgm-robotics/dgm/bridge/crazyflie"
	"github.com/dgm-robotics/dgm/bridge/input"
	"github.com/dgm-robotics/dgm/bridge/mavlink"
	"github.com/dgm-robotics/dgm/bridge/mcap"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/ulog"
)

// format is one kind of log.
type format struct {
	name  string // of the subcommand of import
	short string
	what  string                                                             // a file of it, for usage
	open  func(path string, wants telemetry.Wants) (telemetry.Source, error) // nil for tables
	magic func(head []byte) bool                                             // reports whether a file that begins like this is one
}

// table is the format of tables of text.
var table = format{
	name: "csv", what: "FILE.csv",
	short: "Turn tables of text (comma, semicolon or tab; .gz and .zst as well) into a flight log",
}

// table reports whether f is the format of tables.
func (f *format) table() bool { return f.open == nil }

// formats are the logs of topics that can be read. Where none is named it is the
// first whose magic fits.
var formats = []format{
	{
		name: "ulog", short: "Turn PX4 logs (.ulg) into a flight log", what: "FILE.ulg",
		open: func(path string, w telemetry.Wants) (telemetry.Source, error) {
			return source(ulog.Open(path, w))
		},
		magic: func(head []byte) bool { return bytes.HasPrefix(head, ulog.Magic) },
	},
	{
		name: "ardupilot", short: "Turn ArduPilot's onboard logs (DataFlash, .BIN) into a flight log", what: "FILE.BIN",
		open: func(path string, w telemetry.Wants) (telemetry.Source, error) {
			return source(ardupilot.Open(path, w))
		},
		magic: func(head []byte) bool { return bytes.HasPrefix(head, ardupilot.Magic) },
	},
	{
		name: "mavlink", short: "Turn MAVLink telemetry logs (.tlog) into a flight log", what: "FILE.tlog",
		open: func(path string, w telemetry.Wants) (telemetry.Source, error) {
			return source(mavlink.Open(path, w))
		},
		magic: mavlink.IsTlog,
	},
	{
		name: "mcap", short: "Turn MCAP files of ROS 2 into a flight log", what: "FILE.mcap",
		open: func(path string, w telemetry.Wants) (telemetry.Source, error) {
			return source(mcap.Open(path, w))
		},
		magic: func(head []byte) bool { return bytes.HasPrefix(head, mcap.Magic) },
	},
	{
		name: "crazyflie", short: "Turn logs of a Crazyflie's micro-SD card into a flight log", what: "LOG",
		open: func(path string, w telemetry.Wants) (telemetry.Source, error) {
			return source(crazyflie.Open(path, w))
		},
		magic: crazyflie.Is,
	},
}

// source makes a nil interface of a nil reader.
func source[S telemetry.Source](s S, err error) (telemetry.Source, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// formatOf returns the format of a name, or else that of the file.
func formatOf(name, path string) (*format, error) {
	var names []string
	for i := range formats {
		if formats[i].name == name {
			return &formats[i], nil
		}
		names = append(names, formats[i].name)
	}
	if name != "" {
		return nil, fmt.Errorf("format %q is not known; there are: %s", name, strings.Join(names, ", "))
	}
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	w := input.NewWindow(f, 4096)
	head := bytes.Clone(w.Peek(4096))
	if err := errors.Join(w.Err(), f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range formats {
		if formats[i].magic(head) {
			return &formats[i], nil
		}
	}
	return nil, &unknownFormat{path, names}
}

// unknownFormat reports that a file is no log of topics.
type unknownFormat struct {
	path  string
	names []string
}

func (e *unknownFormat) Error() string {
	return fmt.Sprintf("%s: this is none of the logs of topics (%s); name its format with --format; a table of text is imported by import csv", e.path, strings.Join(e.names, ", "))
}
