package flightlog

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// Version is the version of the format that is written, and the newest that is
// read. Readers skip unknown fields and records, so it changes only when an older
// reader would misread a log.
const Version = 1

const magic = "dgm.flightlog"

// Header is the vehicle of a log and the meaning of its vectors.
type Header struct {
	Vehicle  string            // one token, as in the subjects of its messages
	Channels []channel.Channel // in the order of their values within each role
	Source   string            // (optional) free text: what made the log

	Kinematics channel.Kinematics // (optional) the states that follow from others as those of a rigid body do
}

// dims returns the numbers of states K, inputs P and aux channels A.
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

// checkVehicle returns an error unless a name can be the last token of a subject.
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

// headerMap are the fields of the header, in the order in which they are written.
type headerMap struct {
	magic                string
	channels, kinematics msgbin.Raw
}

func (m *headerMap) fields(h *Header) [6]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("magic", &m.magic),
		msgbin.Required("version", Version),
		msgbin.Required("vehicle", &h.Vehicle).Limit(MaxName),
		msgbin.OmitZero("source", &h.Source).Limit(MaxSource),
		msgbin.Required("channels", &m.channels).Limit(MaxChannels),
		msgbin.OmitZero("kinematics", &m.kinematics),
	}
}

// channelFields are the fields of a channel. A log need not hold those that are
// empty.
func channelFields(c *channel.Channel) [8]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Optional("name", &c.Name).Limit(MaxName),
		msgbin.Optional("unit", &c.Unit).Limit(MaxName),
		msgbin.Optional("role", (*string)(&c.Role)).Limit(MaxName),
		msgbin.OmitZero("derivative", &c.Derivative).Limit(MaxName),
		msgbin.OmitZero("period", &c.Period),
		msgbin.OmitZero("invariant", &c.Invariant),
		msgbin.OmitZero("noise", &c.Noise),
		msgbin.OmitZero("frame", &c.Frame).Limit(MaxName),
	}
}

func kinematicsFields(k *channel.Kinematics) [6]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("law", &k.Relation).Limit(MaxName),
		msgbin.OmitZero("position", &k.Position).Limit(3),
		msgbin.OmitZero("velocity", &k.Velocity).Limit(3),
		msgbin.OmitZero("attitude", &k.Attitude).Limit(3),
		msgbin.OmitZero("rates", &k.Rates).Limit(3),
		msgbin.OmitZero("in_body", &k.InBody),
	}
}

func encodeHeader(h *Header) []byte {
	m := headerMap{magic: magic}
	m.channels.Bytes = msgbin.Append(nil, func(w *msgbin.Writer) {
		w.Array(len(h.Channels))
		for i := range h.Channels {
			f := channelFields(&h.Channels[i])
			w.Fields(f[:])
		}
	})
	if h.Kinematics.Relation != "" {
		f := kinematicsFields(&h.Kinematics)
		m.kinematics.Bytes = msgbin.Append(nil, func(w *msgbin.Writer) { w.Fields(f[:]) })
	}
	f := m.fields(h)
	return msgbin.Append(nil, func(w *msgbin.Writer) { w.Fields(f[:]) })
}

// parseHeader reads a header from the start of b and returns its size. The error
// is a *msgbin.FieldError; it wraps a short *msgbin.Error where with more bytes the
// header may be whole.
func parseHeader(b []byte) (h Header, size int, err error) {
	r := msgbin.NewReader(b)
	if err := expectLog(r); err != nil {
		return h, 0, err
	}
	r.Reset(b)
	var m headerMap
	f := m.fields(&h)
	if err := r.Fields(f[:]); err != nil {
		return h, 0, err
	}
	size = r.Offset()
	if err := parseChannels(r, m.channels, &h); err != nil {
		return h, 0, err
	}
	if len(m.kinematics.Bytes) > 0 {
		r.ResetRaw(m.kinematics)
		f := kinematicsFields(&h.Kinematics)
		if err := r.Fields(f[:]); err != nil {
			return h, 0, within("kinematics", err)
		}
	}
	if field, err := h.check(); err != nil {
		return h, 0, &msgbin.FieldError{Field: field, Err: err}
	}
	return h, size, nil
}

func parseChannels(r *msgbin.Reader, raw msgbin.Raw, h *Header) error {
	r.ResetRaw(raw)
	n, err := r.Array(MaxChannels)
	if err != nil {
		return within("channels", err)
	}
	for i := range n {
		var c channel.Channel
		f := channelFields(&c)
		if err := r.Fields(f[:]); err != nil {
			return within(fmt.Sprintf("channels[%d]", i), err)
		}
		h.Channels = append(h.Channels, c)
	}
	return nil
}

// expectLog reads the start of a header: magic and version, which alone keep their
// place and meaning in other versions.
func expectLog(r *msgbin.Reader) error {
	if _, err := r.Map(64); err != nil {
		return within("magic", notLog(err))
	}
	for _, want := range []string{"magic", magic} {
		got, err := r.StringBytes(MaxName)
		if err != nil {
			return within("magic", notLog(err))
		}
		if string(got) != want {
			return within("magic", fmt.Errorf("%w: it begins with %q instead of %q", ErrNotLog, got, want))
		}
	}
	key, err := r.StringBytes(MaxName)
	if err == nil && string(key) != "version" {
		return within("version", fmt.Errorf("it must be the second field, which is %q", key))
	}
	var v uint64
	if err == nil {
		v, err = r.Uint64()
	}
	switch {
	case err != nil:
		return within("version", err)
	case v > Version:
		return within("version", fmt.Errorf("%w: %d, and %d is read here", ErrVersion, v, Version))
	case v == 0:
		return within("version", errors.New("0 is not a version"))
	}
	return nil
}

// notLog marks bytes that are no header at all, unless they may be the start of one.
func notLog(err error) error {
	if e, ok := errors.AsType[*msgbin.Error](err); ok && e.Short {
		return err
	}
	return fmt.Errorf("%w: %v", ErrNotLog, err)
}

// within puts the name of an outer field before that of an inner one.
func within(field string, err error) error {
	if inner, ok := errors.AsType[*msgbin.FieldError](err); ok {
		if inner.Field != "" {
			field += "." + inner.Field
		}
		err = inner.Err
	}
	return &msgbin.FieldError{Field: field, Err: err}
}
