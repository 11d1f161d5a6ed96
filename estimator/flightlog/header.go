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
	Vehicle    string             `msg:"vehicle,most=name"`           // one token, as in the subjects of its messages
	Source     string             `msg:"source,omitzero,most=source"` // (optional) free text: what made the log
	Channels   []channel.Channel  `msg:"channels,most=channels"`      // in the order of their values within each role
	Kinematics channel.Kinematics `msg:"kinematics,omitzero"`         // (optional) the states that follow from others as those of a rigid body do
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

var headerKeys = msgbin.KeysOf[Header](msgbin.Limits{"name": MaxName, "source": MaxSource, "channels": MaxChannels, "axes": 3})

// fields are the fields of a header, in the order in which they are written.
func (h *Header) fields(magic *string) []msgbin.Field {
	return headerKeys.Fields([]msgbin.Field{msgbin.Required("magic", magic), msgbin.Required("version", Version)}, h)
}

func encodeHeader(h *Header) []byte {
	all, start := *h, magic
	if all.Kinematics.Relation == "" {
		all.Kinematics = channel.Kinematics{}
	}
	return msgbin.Append(nil, func(w *msgbin.Writer) { w.Fields(all.fields(&start)) })
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
	start := ""
	if err := r.Fields(h.fields(&start)); err != nil {
		return h, 0, err
	}
	if field, err := h.check(); err != nil {
		return h, 0, &msgbin.FieldError{Field: field, Err: err}
	}
	return h, r.Offset(), nil
}

// expectLog reads the start of a header: magic and version, which alone keep their
// place and meaning in other versions.
func expectLog(r *msgbin.Reader) error {
	if _, err := r.Map(64); err != nil {
		return msgbin.Within("magic", notLog(err))
	}
	for _, want := range []string{"magic", magic} {
		got, err := r.StringBytes(MaxName)
		if err != nil {
			return msgbin.Within("magic", notLog(err))
		}
		if string(got) != want {
			return msgbin.Within("magic", fmt.Errorf("%w: it begins with %q instead of %q", ErrNotLog, got, want))
		}
	}
	key, err := r.StringBytes(MaxName)
	if err == nil && string(key) != "version" {
		return msgbin.Within("version", fmt.Errorf("it must be the second field, which is %q", key))
	}
	var v uint64
	if err == nil {
		v, err = r.Uint64()
	}
	switch {
	case err != nil:
		return msgbin.Within("version", err)
	case v > Version:
		return msgbin.Within("version", fmt.Errorf("%w: %d, and %d is read here", ErrVersion, v, Version))
	case v == 0:
		return msgbin.Within("version", errors.New("0 is not a version"))
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
