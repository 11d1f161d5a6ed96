package importer

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// kind is what an output makes of its values.
type kind uint8

const (
	scalars    kind = iota // each by itself
	vector                 // three along axes
	euler                  // roll, pitch, yaw
	quaternion             // w, x, y, z, becomes roll, pitch, yaw
	matrix                 // 3×3, row-major, becomes roll, pitch, yaw
)

// output is one or several channels of the log.
type output struct {
	label                 string // channels, for messages
	names                 []string
	asked                 bool // the map has it neither optional nor only where it varies
	role                  channel.Role
	kind                  kind
	n                     int        // channels
	signal                int        // of the joiner
	at                    int        // index of its first value in a row
	times                 int        // index of its factor, −1 = none
	unitScale, unitOffset float64    // into the log's unit
	scale, offset         float64    // of the map
	negative              []bool     // of each value: its sign is turned
	angle                 float64    // of an attitude: one radian in the unit of the log
	unwrap                bool       // of an attitude: angles are continuous within a segment
	last                  [3]float64 // rad, the angles before, where begun
	begun                 bool

	fromWorld, fromBody, toWorld, toBody frames.Frame // of vectors and attitudes; unknown = kept
}

// state is what became of an output in a row.
type state uint8

const (
	measured  state = iota
	missing         // a value is NaN
	crooked         // a quaternion is not of length 1, or a matrix no rotation
	unbounded       // a value is infinite after scale and offset
)

// write puts the channels into dst (n), from the values of a row; begins reports that a
// segment begins with it. What is not measured is NaN.
func (o *output) write(dst, row []float64, begins bool) (st state) {
	switch o.kind {
	case quaternion:
		return o.attitude(dst, frames.Quaternion(row[o.at:o.at+4]), begins)
	case matrix:
		return o.attitude(dst, frames.FromMatrix([9]float64(row[o.at:o.at+9])), begins)
	}
	for i, v := range row[o.at : o.at+o.n] {
		if o.negative[i] {
			v = -v
		}
		v = o.unitScale*v + o.unitOffset
		if o.times >= 0 {
			v *= row[o.times]
		}
		v = o.scale*v + o.offset
		switch {
		case math.IsInf(v, 0):
			v, st = math.NaN(), unbounded
		case math.IsNaN(v) && st == measured:
			st = missing
		}
		dst[i] = v
	}
	switch {
	case o.kind == euler && o.fromWorld != "" && (o.fromWorld != o.toWorld || o.fromBody != o.toBody):
		if !math.IsNaN(dst[0] + dst[1] + dst[2]) {
			o.attitude(dst, frames.FromEuler([3]float64(dst)), begins)
		}
	case o.kind == vector:
		v := frames.Vector([3]float64(dst), o.fromWorld+o.fromBody, o.toWorld+o.toBody) // one of each pair is ""
		copy(dst, v[:])
	}
	return st
}

// unlike returns what the values in a topic are not, where they are no attitude.
func (o *output) unlike(topic string) string {
	if o.kind == matrix {
		return fmt.Sprintf("the matrix in %s is no rotation", topic)
	}
	return fmt.Sprintf("the norm of the quaternion in %s is not 1", topic)
}

// attitude puts roll, pitch and yaw into dst (3): NaN where q is no attitude.
func (o *output) attitude(dst []float64, q frames.Quaternion, begins bool) state {
	o.begun = o.begun && !begins
	unit, ok := q.Unit()
	if !ok {
		dst[0], dst[1], dst[2] = math.NaN(), math.NaN(), math.NaN()
		if math.IsNaN(q[0] + q[1] + q[2] + q[3]) {
			return missing
		}
		return crooked
	}
	if o.fromWorld != "" {
		unit = frames.Attitude(unit, o.fromWorld, o.fromBody, o.toWorld, o.toBody)
	}
	e := unit.Euler()
	if o.unwrap && o.begun {
		for i := range e {
			e[i] -= channel.Angle * math.Round((e[i]-o.last[i])/channel.Angle)
		}
	}
	o.last, o.begun = e, true
	for i, v := range e {
		dst[i] = o.angle * v
	}
	return measured
}
