package flightlog_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// committed returns the bytes of the golden log as a file, and where its records begin.
func committed(t *testing.T) (raw []byte, starts []int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	f, err := flightlog.CreateFile(path, header)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f.Writer)
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	at := bytes.IndexByte(raw, msgbin.RecordStart)
	for r := msgbin.NewReader(nil); at < len(raw); {
		r.Reset(raw[at:])
		rec, err := r.Record(flightlog.MaxPayload)
		if err != nil {
			t.Fatal(err)
		}
		starts = append(starts, at)
		at += rec.Size
	}
	return raw, starts
}

// Every cut between two records of a file is reported, and so is every record that is taken out.
func TestMissingRecordsAreTold(t *testing.T) {
	raw, starts := committed(t)
	if log, err := flightlog.ReadFile(onDisk(t, raw)); err != nil || len(log.Damages) > 0 {
		t.Fatalf("the whole log: damage %v, %v", log.Damages, err)
	}
	for i := 2; i < len(starts); i++ { // after the header's copy and the first count
		log, err := flightlog.ReadFile(onDisk(t, raw[:starts[i]]))
		var damage *flightlog.DamageError
		if err == nil {
			damage = log.Damage
		} else if !errors.As(err, &damage) { // no record is left
			t.Fatal(err)
		}
		if damage == nil || !damage.Tail || !errors.Is(damage, io.ErrUnexpectedEOF) || damage.Record != i {
			t.Errorf("cut before record %d: damage %v", i, damage)
		}
		if i+1 == len(starts) {
			break
		}
		log, err = flightlog.ReadFile(onDisk(t, append(bytes.Clone(raw[:starts[i]]), raw[starts[i+1]:]...)))
		if err != nil || len(log.Damages) != 1 || log.Damage.Tail {
			t.Errorf("without record %d: damage %v, %v", i, log.Damages, err)
		}
	}
	// Damage is reported once.
	torn := bytes.Clone(raw)
	torn[starts[4]+9] ^= 1
	if log, err := flightlog.ReadFile(onDisk(t, torn)); err != nil || len(log.Damages) != 1 {
		t.Errorf("a damaged record: %v, %v", log.Damages, err)
	}
	if log, err := flightlog.ReadFile(onDisk(t, raw[:len(raw)-3])); err != nil || len(log.Damages) != 1 {
		t.Errorf("a torn count: %v, %v", log.Damages, err)
	}
}

// A log of a program that counts nothing, and one without any sample, are intact.
func TestLogsThatNeedNoCount(t *testing.T) {
	raw, starts := committed(t)
	old := golden(t)
	none := raw[:starts[2]]
	r, err := flightlog.NewReader(bytes.NewReader(old), "old")
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) || r.Counted() {
		t.Errorf("without counts: %v, counted %v", err, r.Counted())
	}
	var b bytes.Buffer
	w, err := flightlog.NewWriter(&b, header)
	for range 2 {
		if err == nil {
			err = w.Count()
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	if r, err = flightlog.NewReader(&b, "empty"); err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) || !r.Counted() {
		t.Errorf("without samples: %v", err)
	}
	if _, err := flightlog.ReadFile(onDisk(t, none)); err == nil {
		t.Error("a log that was cut after its first count is read")
	}
}
