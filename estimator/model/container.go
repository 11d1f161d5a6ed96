package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Magic is the first element of a model file.
const Magic = "dgm-model"

// signatureSize is the length of an Ed25519 signature.
const signatureSize = 64

// Version is the version of the format that this package writes a new model in, but for one with an equation of motion,
// actuators, changes of the input, maps of residuals, intervals that grow beyond bounds, equations with an ellipsoid or with dry friction, or bounded maps. It reads all up to newest.
const (
	Version = 3
	newest  = versionWithAgreement

	versionWithMotion    = 4  // with equations of motion
	versionWithActuators = 5  // with actuators, and all that is in version 4
	versionWithChanges   = 6  // with changes of the input of a direct map, and all that is in version 5
	versionWithResiduals = 7  // with direct maps of residuals, and all that is in version 6
	versionWithFurther   = 8  // with coefficients beyond the bounds of covariates, and all that is in version 7
	versionWithEllipsoid = 9  // with equations whose coordinates are bounded together, and all that is in version 8
	versionWithFriction  = 10 // with equations whose coordinates have dry friction, and all that is in version 9
	versionWithAgreement = 11 // with direct maps that are bounded by what those with less history predict, and all that is in version 10
)

// Usual returns the version that the model is written in where nothing else is asked for.
func (m *Model) Usual() int {
	switch {
	case slices.ContainsFunc(m.Stack, func(c Component) bool { return c.Direct.Bounded() }):
		return versionWithAgreement
	case m.hasEquation(func(e *priordynamics.Model) bool { return slices.Contains(e.Lift.Kind, channel.Friction) }):
		return versionWithFriction
	case m.hasEquation(func(e *priordynamics.Model) bool { return len(e.Ellipsoid) > 0 }):
		return versionWithEllipsoid
	case slices.ContainsFunc(m.Calibration, func(c Calibration) bool { return len(c.Further) > 0 }):
		return versionWithFurther
	case slices.ContainsFunc(m.Stack, func(c Component) bool { return c.Residual }):
		return versionWithResiduals
	case slices.ContainsFunc(m.Stack, func(c Component) bool { return len(c.Direct.Change) > 0 }):
		return versionWithChanges
	case len(m.Actuators) > 0:
		return versionWithActuators
	case MotionOf(m.Stack) != nil:
		return versionWithMotion
	}
	return Version
}

// hasEquation reports whether an equation is of a kind.
func (m *Model) hasEquation(is func(e *priordynamics.Model) bool) bool {
	for i := range m.Stack {
		for j := range m.Stack[i].Members {
			if is(&m.Stack[i].Members[j]) {
				return true
			}
		}
	}
	return is(&m.Adaptation.Equation) || m.Filter != nil && is(&m.Filter.Equation)
}

// The reasons for refusing a file, for errors.Is.
var (
	ErrNotModel = errors.New("not a model file")
	ErrVersion  = errors.New("version of the model format is not supported")
	ErrDamaged  = errors.New("model file is damaged")
	ErrUnsealed = errors.New("model has no self-checks")
)

// Sealed returns ErrUnsealed for a model that was trained on data and has no
// self-checks, without which its evaluation cannot be verified. An artificial one,
// without a hash of data, need not have any.
func (m *Model) Sealed() error {
	if len(m.Checks) == 0 && m.Provenance.DataHash != "" {
		return fmt.Errorf("%w, so that this program cannot verify its evaluation; train again", ErrUnsealed)
	}
	return nil
}

// Encode returns the file of a model and sets its ID. It returns an error if the
// model contradicts itself.
func (m *Model) Encode() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	version := m.Format
	if version == 0 || m.Usual() > Version {
		version = m.Usual()
	}
	body := encodeMap(func(c *coder) { m.fields(c, version) })
	sum := sha256.Sum256(body)
	m.ID = hex.EncodeToString(sum[:8])
	return msgbin.Append(nil, func(w *msgbin.Writer) {
		w.Array(5)
		w.String(Magic)
		w.Int(int64(version))
		w.Bin(body)
		w.Bin(sum[:])
		w.Nil()
	}), nil
}

// open returns a Reader behind the magic of a model file, and the number of
// elements of its array.
func open(file []byte) (r *msgbin.Reader, n int, err error) {
	r = msgbin.NewReader(file)
	if n, err = r.Array(64); err != nil || n < 5 {
		return nil, 0, fmt.Errorf("%w: it does not start with the array of a model", ErrNotModel)
	}
	if magic, err := r.StringBytes(64); err != nil || string(magic) != Magic {
		return nil, 0, fmt.Errorf("%w: it does not start with %q", ErrNotModel, Magic)
	}
	return r, n, nil
}

// Decode reads a model from the bytes of its file and checks it whole.
func Decode(b []byte) (*Model, error) {
	r, n, err := open(b)
	if err != nil {
		return nil, err
	}
	v, err := r.Int64()
	if err != nil {
		return nil, fmt.Errorf("%w: version: %w; copy it again", ErrDamaged, err)
	}
	if v < 1 || v > newest {
		return nil, fmt.Errorf("%w: found %d, this program reads 1 to %d: use a program of the same release, or train again", ErrVersion, v, newest)
	}
	body, err := r.Bin(MaxFile)
	if err != nil {
		return nil, fmt.Errorf("%w: body: %w; copy it again", ErrDamaged, err)
	}
	want, err := r.Bin(sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("%w: checksum: %w; copy it again", ErrDamaged, err)
	}
	sum := sha256.Sum256(body)
	if !bytes.Equal(sum[:], want) {
		return nil, fmt.Errorf("%w: its checksum does not match its content; copy it again", ErrDamaged)
	}
	if !r.Nil() {
		if s, err := r.Bin(signatureSize); err != nil || len(s) != signatureSize {
			return nil, fmt.Errorf("%w: the signature is neither nil nor a bin of %d bytes; copy it again", ErrDamaged, signatureSize)
		}
	}
	for i := 5; i < n; i++ { // elements of later writers
		if err := r.Skip(); err != nil {
			return nil, fmt.Errorf("%w: element %d: %w; copy it again", ErrDamaged, i, err)
		}
	}
	if r.Left() > 0 {
		return nil, fmt.Errorf("%w: %d bytes after its end; copy it again", ErrDamaged, r.Left())
	}
	m := &Model{Format: max(int(v), 2)} // version 1 is not written any more
	err = decodeMap(msgbin.Raw{Bytes: body}, "", func(c *coder) { m.fields(c, int(v)) })
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w; its checksum matches, so it was written that way: train again with a program of this release", err)
	}
	m.ID = hex.EncodeToString(sum[:8])
	return m, nil
}
