package importer

import (
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
)

// output is one or several channels of the log.
type output struct {
	role                  channel.Role
	kind                  kind
	n                     int     // channels
	at                    int     // where its values stand in a row
	times                 int     // where its factor stands, −1 = none
	unitScale, unitOffset float64 // into the log's unit
	scale, offset         float64 // of the map
	negative              []bool  // of each value: its sign is turned

	fromWorld, fromBody, toWorld, toBody frames.Frame // of vectors and attitudes; unknown = kept
}

// write puts the channels into dst (n), from the values of a row.
func (o *output) write(dst, row []float64) {
	if o.kind == quaternion {
		o.attitude(dst, frames.Quaternion(row[o.at:o.at+4]))
		return
	}
	in := row[o.at : o.at+o.n]
	for i, v := range in {
		if o.negative[i] {
			v = -v
		}
		v = o.unitScale*v + o.unitOffset
		if o.times >= 0 {
			v *= row[o.times]
		}
		v = o.scale*v + o.offset
		if math.IsInf(v, 0) {
			v = math.NaN()
		}
		dst[i] = v
	}
	switch {
	case o.kind == euler && o.fromWorld != "" && (o.fromWorld != o.toWorld || o.fromBody != o.toBody):
		if !math.IsNaN(dst[0] + dst[1] + dst[2]) {
			o.attitude(dst, frames.FromEuler([3]float64(dst)))
		}
	case o.kind == vector:
		v := frames.Vector([3]float64(dst), o.fromWorld+o.fromBody, o.to())
		copy(dst, v[:])
	}
}

// to is the frame of a vector in the log.
func (o *output) to() frames.Frame {
	if o.fromWorld != "" {
		return o.toWorld
	}
	return o.toBody
}

// attitude puts roll, pitch and yaw into dst (3): NaN where q is no attitude.
func (o *output) attitude(dst []float64, q frames.Quaternion) {
	q, ok := q.Unit()
	if !ok {
		dst[0], dst[1], dst[2] = math.NaN(), math.NaN(), math.NaN()
		return
	}
	if o.fromWorld != "" {
		q = frames.Attitude(q, o.fromWorld, o.fromBody, o.toWorld, o.toBody)
	}
	e := q.Euler()
	copy(dst, e[:])
}
