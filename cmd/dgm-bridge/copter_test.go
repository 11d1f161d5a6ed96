package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/frames"
)

// copterStart is what ArduPilot's clock shows when the log begins, µs.
const copterStart = 30_000_000

// copterLog is the DataFlash log that ArduCopter would write of a flight: the filter at
// 25 Hz, the gyroscope at 100 Hz, the motors' pulse widths at 50 Hz.
func copterLog(flight []moment) []byte {
	var b bytes.Buffer
	record := func(id byte, parts ...any) {
		b.Write([]byte{0xA3, 0x95, id})
		for _, p := range parts {
			if err := binary.Write(&b, binary.LittleEndian, p); err != nil {
				panic(err)
			}
		}
	}
	chars := func(s string, n int) []byte { return append([]byte(s), make([]byte, n)...)[:n] }
	sizes := map[rune]int{'B': 1, 'Q': 8, 'f': 4, 'c': 2, 'C': 2, 'H': 2, 'h': 2, 'I': 4, 'b': 1, 'Z': 64, 'N': 16, 'n': 4, 'd': 8}
	format := func(id byte, name, kinds, columns, units, factors string) {
		length := 3
		for _, k := range kinds {
			length += sizes[k]
		}
		record(128, id, byte(length), chars(name, 4), chars(kinds, 16), chars(columns, 64))
		if units != "" {
			record(12, uint64(copterStart), id, chars(units, 16), chars(factors, 16))
		}
	}
	format(128, "FMT", "BBnNZ", "Type,Length,Name,Format,Columns", "", "")
	format(10, "UNIT", "QbZ", "TimeUS,Id,Label", "", "")
	format(11, "MULT", "Qbd", "TimeUS,Id,Mult", "", "")
	format(12, "FMTU", "QBNN", "TimeUS,FmtType,UnitIds,MultIds", "", "")
	for id, label := range map[byte]string{'s': "s", 'd': "deg", 'm': "m", 'n': "m/s", 'E': "rad/s", 'Y': "us", 'v': "V", 'A': "A", '-': "", '#': "instance"} {
		record(10, uint64(copterStart), id, chars(label, 64))
	}
	for id, factor := range map[byte]float64{'F': 1e-6, 'B': 1e-2, '0': 1, '-': 0} {
		record(11, uint64(copterStart), id, factor)
	}
	format(20, "XKF1", "QBccCfffffff", "TimeUS,C,Roll,Pitch,Yaw,VN,VE,VD,dPD,PN,PE,PD", "s#dddnnnnmmm", "F-BBB0000000")
	format(21, "XKQ", "QBffff", "TimeUS,C,Q1,Q2,Q3,Q4", "s#----", "F-0000")
	format(22, "IMU", "QBffffff", "TimeUS,I,GyrX,GyrY,GyrZ,AccX,AccY,AccZ", "s#EEE---", "F-000---")
	format(23, "RCOU", "QHHHHHH", "TimeUS,C1,C2,C3,C4,C5,C6", "sYYYYYY", "F------")
	format(24, "BAT", "QBff", "TimeUS,Inst,Volt,Curr", "s#vA", "F-00")
	format(25, "ARM", "QBI", "TimeUS,ArmState,ArmChecks", "s--", "F--")
	format(26, "EV", "QB", "TimeUS,Id", "s-", "F-")
	f32 := func(v ...float64) []float32 {
		out := make([]float32, len(v))
		for i := range v {
			out[i] = float32(v[i])
		}
		return out
	}
	cdeg := func(rad float64) int16 { return int16(math.Round(rad * 18000 / math.Pi)) }
	takeoff, landing := 1000*ground, 1000*ground+len(flight)
	for ms := range len(flight) + 2000*ground {
		m := at(flight, ms)
		now := uint64(copterStart + 1000*ms)
		switch ms {
		case takeoff - 600:
			record(25, now, uint8(1), uint32(0))
		case takeoff:
			record(26, now, uint8(28)) // not landed
		case landing:
			record(26, now, uint8(18)) // landed
		case landing + 800:
			record(25, now, uint8(0), uint32(0))
		}
		if ms%40 == 0 {
			yaw := uint16(math.Round(math.Mod(m.e[2]+2*math.Pi, 2*math.Pi) * 18000 / math.Pi))
			for core := range uint8(2) { // the second filter is a little off
				off := 0.2 * float64(core)
				record(20, now, core, cdeg(m.e[0]), cdeg(m.e[1]), yaw, f32(m.v[0]+off, m.v[1], m.v[2], 0, m.x[0]+off, m.x[1], m.x[2]))
				q := frames.FromEuler(m.e)
				record(21, now, core, f32(q[:]...))
			}
		}
		if ms%10 == 3 {
			record(22, now, uint8(0), f32(m.w[0], m.w[1], m.w[2], 0, 0, -9.8))
			record(22, now, uint8(1), f32(m.w[0]+0.1, m.w[1], m.w[2], 0, 0, -9.8))
		}
		if ms%20 == 1 {
			var pulse [6]uint16
			for k := range m.command {
				pulse[k] = width(m.command[k])
			}
			record(23, now, pulse[:])
		}
		if ms%100 == 50 {
			record(24, now, uint8(0), f32(11.8-1e-6*float64(ms), 3))
		}
	}
	return b.Bytes()
}

// width is the pulse width of a command, µs.
func width(command float64) uint16 { return uint16(math.Round(1000 + 1000*command)) }

// A flight as ArduCopter logs it comes back by the preset as it was flown.
func TestFlownCopter(t *testing.T) {
	keepFlown(t, ".BIN", copterLog)
	flight := fly(t, flownSeconds, 8, false)
	log := write(t, filepath.Join(t.TempDir(), "a.BIN"), copterLog(flight))
	for _, axes := range []string{"ned-frd", "enu-flu"} {
		out, report := importFlown(t, "ardupilot", "ardupilot-copter", log, "--frames", axes)
		for _, want := range []string{
			"rows have the timestamps of XKF1, 25 Hz", "p, q, r: from IMU, 100 Hz, interpolated in", "m1, m2, m3, m4: from RCOU, 50 Hz, held in", "150 rows on the ground or disarmed left out",
		} {
			if !strings.Contains(report, want) {
				t.Errorf("%s: no %q in\n%s", axes, want, report)
			}
		}
		e, rows := compareFlown(t, out, flight, copterStart*1000, axes == "enu-flu", func(ms int, u []float64) {
			// What was sent last: at 1, 21, 41 … ms.
			for k, v := range at(flight, ms-(ms+19)%20).command {
				if u[k] != float64(width(v)) {
					t.Fatalf("%d ms: motor %d is commanded %v µs, was commanded %v", ms, k+1, u[k], width(v))
				}
			}
		})
		t.Logf("%s: %d rows, %+v", axes, rows, e)
		if rows != 25*flownSeconds {
			t.Errorf("%s: %d rows of %d s at 25 Hz", axes, rows, flownSeconds)
		}
		// The filter's values lose only what does not fit into 32 bits; the gyroscope is
		// interpolated over 10 ms.
		if e.x > 1e-6 || e.v > 1e-6 || e.angle > 1e-6 || e.w > 5e-3 {
			t.Errorf("%s: %+v", axes, e)
		}
	}
}
