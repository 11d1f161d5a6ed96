package flightlog

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// Version is the version of the format that is written, and the newest that is
// read. Readers skip what they do not know, so it changes only when an older
// reader would misread a log.
const Version = 1

const magic = "dgm.flightlog"

// Header says whose log it is and what its vectors hold.
type Header struct {
	Vehicle  string            // one token, as in the subjects of its messages
	Channels []channel.Channel // in the order of their values within each role
	Source   string            // (optional) free text: what made the log

	Kinematics channel.Kinematics // (optional) which states move others as those of a rigid body
}

// K returns the number of states, P of inputs, A of aux channels.
func (h *Header) dims() (K, P, A int) {
	for _, c := range h.Channels {
		switch c.Role {
		case channel.State:
			K++
		case channel.Input:
			P++
		default:
			A++
		}
	}
	return K, P, A
}

// check returns the first thing in the header that a log cannot hold, with its
// field.
func (h *Header) check() (field string, err error) {
	if err := checkVehicle(h.Vehicle); err != nil {
		return "vehicle", err
	}
	if len(h.Source) > MaxSource {
		return "source", fmt.Errorf("%d bytes, more than the limit of %d", len(h.Source), MaxSource)
	}
	if len(h.Channels) > MaxChannels {
		return "channels", fmt.Errorf("%d channels, more than the limit of %d", len(h.Channels), MaxChannels)
	}
	for i, c := range h.Channels {
		for _, s := range []string{c.Name, c.Unit, c.Frame} {
			if len(s) > MaxName {
				return fmt.Sprintf("channels[%d]", i), fmt.Errorf("a name, unit or frame of %d bytes, more than the limit of %d", len(s), MaxName)
			}
		}
	}
	if err := channel.Check(h.Channels); err != nil {
		return "channels", err
	}
	if err := h.Kinematics.Check(h.Channels); err != nil {
		return "kinematics", err
	}
	return "", nil
}

// checkVehicle says whether a name can be the last token of a subject.
func checkVehicle(name string) error {
	switch {
	case name == "":
		return errors.New("it is empty")
	case len(name) > MaxName:
		return fmt.Errorf("%d bytes, more than the limit of %d", len(name), MaxName)
	}
	for _, r := range name {
		if unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(".*>", r) || r == unicode.ReplacementChar {
			return fmt.Errorf("%q holds %q; a vehicle is one token of a subject, without spaces, dots, * and >", name, r)
		}
	}
	return nil
}

// appendHeader appends the header's map. Fields with their zero value are left
// out, but for those that every log must have.
func appendHeader(dst []byte, h *Header) []byte {
	n := 4
	if h.Source != "" {
		n++
	}
	if h.Kinematics.Relation != "" {
		n++
	}
	dst = msgbin.AppendMapHeader(dst, n)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "magic"), magic)
	dst = msgbin.AppendInt(msgbin.AppendString(dst, "version"), Version)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "vehicle"), h.Vehicle)
	if h.Source != "" {
		dst = msgbin.AppendString(msgbin.AppendString(dst, "source"), h.Source)
	}
	dst = msgbin.AppendArrayHeader(msgbin.AppendString(dst, "channels"), len(h.Channels))
	for _, c := range h.Channels {
		dst = appendChannel(dst, c)
	}
	if h.Kinematics.Relation != "" {
		dst = appendKinematics(msgbin.AppendString(dst, "kinematics"), &h.Kinematics)
	}
	return dst
}

func appendChannel(dst []byte, c channel.Channel) []byte {
	n := 3
	for _, there := range []bool{c.Derivative != "", c.Period != 0, c.Invariant, c.Noise != 0, c.Frame != ""} {
		if there {
			n++
		}
	}
	dst = msgbin.AppendMapHeader(dst, n)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "name"), c.Name)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "unit"), c.Unit)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "role"), string(c.Role))
	if c.Derivative != "" {
		dst = msgbin.AppendString(msgbin.AppendString(dst, "derivative"), c.Derivative)
	}
	if c.Period != 0 {
		dst = msgbin.AppendFloat64(msgbin.AppendString(dst, "period"), c.Period)
	}
	if c.Invariant {
		dst = msgbin.AppendBool(msgbin.AppendString(dst, "invariant"), true)
	}
	if c.Noise != 0 {
		dst = msgbin.AppendFloat64(msgbin.AppendString(dst, "noise"), c.Noise)
	}
	if c.Frame != "" {
		dst = msgbin.AppendString(msgbin.AppendString(dst, "frame"), c.Frame)
	}
	return dst
}

// headerError is a fault in the bytes of a header, with its field.
type headerError struct {
	field string
	err   error
}

func (e *headerError) Error() string { return e.field + ": " + e.err.Error() }
func (e *headerError) Unwrap() error { return e.err }

// parseHeader reads a header from the start of b and returns its size. The error
// is a *headerError; it wraps a short *msgbin.Error where more bytes could mend
// it.
func parseHeader(b []byte) (h Header, size int, err error) {
	r := msgbin.NewReader(b)
	pairs, err := r.Map(64)
	if err != nil {
		return h, 0, &headerError{"magic", notLog(err)}
	}
	if err := expectMagic(&r); err != nil {
		return h, 0, err
	}
	// Nothing but magic and version keeps its meaning in another version.
	if err := expectVersion(&r); err != nil {
		return h, 0, err
	}
	for range pairs - 2 {
		key, err := r.StringBytes(MaxName)
		if err != nil {
			return h, 0, &headerError{"a field's name", err}
		}
		field := ""
		switch string(key) {
		case "vehicle":
			field = "vehicle"
			h.Vehicle, err = r.String(MaxName)
		case "source":
			field = "source"
			h.Source, err = r.String(MaxSource)
		case "channels":
			field = "channels"
			h.Channels, err = parseChannels(&r)
		case "kinematics":
			field = "kinematics"
			h.Kinematics, err = parseKinematics(&r)
		default:
			field = "an unknown field"
			err = r.Skip()
		}
		if err != nil {
			return h, 0, within(field, err)
		}
	}
	if field, err := h.check(); err != nil {
		return h, 0, &headerError{field, err}
	}
	return h, r.Offset(), nil
}

func parseChannels(r *msgbin.Reader) ([]channel.Channel, error) {
	n, err := r.Array(MaxChannels)
	if err != nil {
		return nil, err
	}
	var all []channel.Channel
	for i := range n {
		c, err := parseChannel(r)
		if err != nil {
			return nil, within(fmt.Sprintf("[%d]", i), err)
		}
		all = append(all, c)
	}
	return all, nil
}

func parseChannel(r *msgbin.Reader) (c channel.Channel, err error) {
	pairs, err := r.Map(64)
	if err != nil {
		return c, err
	}
	for range pairs {
		key, err := r.StringBytes(MaxName)
		if err != nil {
			return c, err
		}
		field := "." + string(key)
		switch string(key) {
		case "name":
			c.Name, err = r.String(MaxName)
		case "unit":
			c.Unit, err = r.String(MaxName)
		case "role":
			var role string
			role, err = r.String(MaxName)
			c.Role = channel.Role(role)
		case "derivative":
			c.Derivative, err = r.String(MaxName)
		case "period":
			c.Period, err = r.Float64()
		case "invariant":
			c.Invariant, err = r.Bool()
		case "noise":
			c.Noise, err = r.Float64()
		case "frame":
			c.Frame, err = r.String(MaxName)
		default:
			err = r.Skip()
		}
		if err != nil {
			return c, within(field, err)
		}
	}
	return c, nil
}

func expectMagic(r *msgbin.Reader) error {
	for _, want := range []string{"magic", magic} {
		got, err := r.StringBytes(MaxName)
		if err != nil {
			return &headerError{"magic", notLog(err)}
		}
		if string(got) != want {
			return &headerError{"magic", fmt.Errorf("%w: it begins with %q instead of %q", ErrNotLog, got, want)}
		}
	}
	return nil
}

func expectVersion(r *msgbin.Reader) error {
	key, err := r.StringBytes(MaxName)
	if err == nil && string(key) != "version" {
		return &headerError{"version", fmt.Errorf("it must be the second field, which is %q", key)}
	}
	var v uint64
	if err == nil {
		v, err = r.Uint64()
	}
	switch {
	case err != nil:
		return &headerError{"version", err}
	case v > Version:
		return &headerError{"version", fmt.Errorf("%w: %d, and %d is read here", ErrVersion, v, Version)}
	case v == 0:
		return &headerError{"version", errors.New("0 is not a version")}
	}
	return nil
}

// notLog marks bytes that are no header at all, unless more bytes could mend it.
func notLog(err error) error {
	var e *msgbin.Error
	if errors.As(err, &e) && e.Short {
		return err
	}
	return fmt.Errorf("%w: %v", ErrNotLog, err)
}

// within puts the name of an outer field before that of an inner one.
func within(field string, err error) error {
	var inner *headerError
	if errors.As(err, &inner) {
		return &headerError{field + inner.field, inner.err}
	}
	return &headerError{field, err}
}
