package flightlog_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// flyer is a header that declares everything.
func flyer() flightlog.Header {
	h := flightlog.Header{Vehicle: "quad1", Kinematics: channel.Kinematics{
		Relation: channel.Quadrotor, Position: []string{"x", "y", "-z"}, Velocity: []string{"u", "v", "w"},
		Attitude: []string{"roll", "-pitch", "yaw"}, Rates: []string{"p", "q", "r"}, InBody: true,
	}}
	for _, name := range []string{"x", "y", "z", "u", "v", "w", "p", "q", "r"} {
		h.Channels = append(h.Channels, channel.Channel{Name: name, Role: channel.State})
	}
	for _, name := range []string{"roll", "pitch", "yaw"} {
		h.Channels = append(h.Channels, channel.Channel{Name: name, Role: channel.State, Period: channel.Angle})
	}
	return h
}

func TestKinematicsRoundTrip(t *testing.T) {
	whole, turning := flyer(), flyer()
	turning.Kinematics.Position, turning.Kinematics.Velocity, turning.Kinematics.InBody = nil, nil, false
	for _, h := range []flightlog.Header{whole, turning} {
		var b bytes.Buffer
		w, err := flightlog.NewWriter(&b, h)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := flightlog.NewReader(bytes.NewReader(b.Bytes()), "log")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(h, r.Header()); diff != "" {
			t.Errorf("-written +read:\n%s", diff)
		}
	}
}

func TestKinematicsAreChecked(t *testing.T) {
	h := flyer()
	h.Kinematics.Rates[2] = "yawrate"
	var format *flightlog.FormatError
	_, err := flightlog.NewWriter(&bytes.Buffer{}, h)
	if !errors.As(err, &format) || format.Field != "kinematics" || !strings.Contains(err.Error(), `rates: "yawrate" is not a state`) {
		t.Errorf("%v", err)
	}
	// A reader reports it too, with the field: rename a channel in the bytes.
	var b bytes.Buffer
	h = flyer()
	w, err := flightlog.NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	bad := bytes.ReplaceAll(b.Bytes(), []byte("quadrotor"), []byte("quadroter"))
	if _, err := flightlog.NewReader(bytes.NewReader(bad), "log"); !errors.As(err, &format) || !strings.Contains(err.Error(), "kinematics") {
		t.Errorf("%v", err)
	}
}
