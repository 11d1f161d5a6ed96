package crazyflie_test

import (
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/crazyflie"
	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// A real flight, written as the card would have it, comes out by the preset as its
// table does by its map, to the precision of the card.
func TestRealFlight(t *testing.T) {
	table := filepath.Join("..", "..", "..", "shared", "data", "nanobench", "dev", "B2_circle_fast_rep3.csv")
	f, err := os.Open(table)
	if err != nil {
		t.Skip("the shared recording is not here: nanobench")
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := []struct{ from, to string }{
		{"est_stateEstimate_x", "stateEstimate.x(f)"}, {"est_stateEstimate_y", "stateEstimate.y(f)"}, {"est_stateEstimate_z", "stateEstimate.z(f)"},
		{"est_stateEstimate_vx", "stateEstimate.vx(f)"}, {"est_stateEstimate_vy", "stateEstimate.vy(f)"}, {"est_stateEstimate_vz", "stateEstimate.vz(f)"},
		{"att_stateEstimate_roll", "stateEstimate.roll(f)"}, {"att_stateEstimate_pitch", "stateEstimate.pitch(f)"}, {"att_stateEstimate_yaw", "stateEstimate.yaw(f)"},
		{"imu_gyro_x", "gyro.x(f)"}, {"imu_gyro_y", "gyro.y(f)"}, {"imu_gyro_z", "gyro.z(f)"},
		{"motor_motor_m1", "motor.m1(f)"}, {"motor_motor_m2", "motor.m2(f)"}, {"motor_motor_m3", "motor.m3(f)"}, {"motor_motor_m4", "motor.m4(f)"}, {"pwr_pm_vbat", "pm.vbat(f)"},
	}
	kind := []string{"fixedFrequency"}
	var at []int
	for _, c := range columns {
		kind = append(kind, c.to)
		at = append(at, slices.Index(rows[0], c.from))
	}
	clock := slices.Index(rows[0], "t")
	log := newLog(2, kind)
	number := func(cell string) float64 {
		if v, err := strconv.ParseFloat(cell, 64); err == nil {
			return v
		}
		return math.NaN()
	}
	for _, row := range rows[1:] {
		values := make([]any, len(at))
		for i, k := range at {
			v := number(row[k])
			if i >= 9 && i < 12 {
				v *= 180 / math.Pi // the card has degrees
			}
			values[i] = float32(v)
		}
		log.event(0, int64(math.Round(1e6*number(row[clock]))), values...)
	}
	dir := t.TempDir()
	card := filepath.Join(dir, "log00")
	if err := os.WriteFile(card, log.done(), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := importer.Preset("crazyflie")
	if err != nil {
		t.Fatal(err)
	}
	m.Time.From, m.Time.To = mapfile.Duration(5e9), mapfile.Duration(35.5e9) // flying, not on the ground
	s, err := importer.Import(context.Background(), importer.Job{Format: "crazyflie", Map: m, Inputs: []string{card}, Out: filepath.Join(dir, "card.msgpack"),
		Open: func(path string, w telemetry.Wants) (telemetry.Source, error) { return crazyflie.Open(path, w) }})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := importer.ReadMap(filepath.Join("..", "csv", "testdata", "nanobench.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := importer.Import(context.Background(), importer.Job{Format: "csv", Map: plain, Inputs: []string{table}, Out: filepath.Join(dir, "table.msgpack")}); err != nil {
		t.Fatal(err)
	}
	got, err := flightlog.ReadFile(filepath.Join(dir, "card.msgpack"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := flightlog.ReadFile(filepath.Join(dir, "table.msgpack"))
	if err != nil {
		t.Fatal(err)
	}
	a, b := got.Segments[0], want.Segments[0]
	if len(got.Segments) != 1 || len(a.T) != len(b.T) || s.Rows != len(b.T) {
		t.Fatalf("%d rows, the table has %d", len(a.T), len(b.T))
	}
	states := channel.Select(want.Channels, channel.State)
	for i := range a.T {
		for k, c := range states {
			x, y := a.X[i*len(states)+k], b.X[i*len(states)+k]
			if c.Name == "pitch" {
				y = -y // the firmware's pitch is of another body frame than the preset's
			}
			if math.Abs(math.Remainder(x-y, 2*math.Pi)) > 1e-6 && math.Abs(x-y) > 1e-5*math.Max(1, math.Abs(y)) {
				t.Fatalf("row %d: %s is %v, by the table %v", i, c.Name, x, y)
			}
		}
		for k := range 4 {
			if math.Abs(a.U[4*i+k]-b.U[4*i+k]) > 1e-6 {
				t.Fatalf("row %d: input %d is %v, by the table %v", i, k, a.U[4*i+k], b.U[4*i+k])
			}
		}
	}
	t.Logf("%d rows equal", len(a.T))
}
