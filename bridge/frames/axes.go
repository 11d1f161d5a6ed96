package frames

import "math"

// Frame names the axes of a vector.
type Frame string

// The frames. "" is not known: values are kept as they are.
const (
	NED Frame = "ned"
	ENU Frame = "enu"
	FRD Frame = "frd"
	FLU Frame = "flu"
	EUS Frame = "eus" // y is up, as in motion capture and game engines
	FUR Frame = "fur"
)

// World reports whether a frame is fixed to the ground.
func (f Frame) World() bool { return f == NED || f == ENU || f == EUS }

// Body reports whether a frame is fixed to the robot.
func (f Frame) Body() bool { return f == FRD || f == FLU || f == FUR }

// zUp is the frame with z up of frames with y up: a quarter of a turn about x leads there.
var zUp = map[Frame]Frame{EUS: ENU, FUR: FLU}

// Vector returns v, given in from, in to. Both must be of the world or both of
// the body. Each of the conversions but those from y up is its own inverse.
func Vector(v [3]float64, from, to Frame) [3]float64 {
	switch {
	case from == to:
		return v
	case from == EUS || from == FUR:
		return Vector([3]float64{v[0], -v[2], v[1]}, zUp[from], to)
	case to == EUS || to == FUR:
		v = Vector(v, from, zUp[to])
		return [3]float64{v[0], v[2], -v[1]}
	case from.World() && to.World():
		return [3]float64{v[1], v[0], -v[2]}
	case from.Body() && to.Body():
		return [3]float64{v[0], -v[1], -v[2]}
	}
	panic("frames: a vector of the world cannot be given in axes of the body, nor the other way round")
}

// half is the sine and the cosine of 45°.
var half = math.Sqrt(0.5)

// Attitude returns the attitude q, of a body in axes body to a world in axes
// world, for the axes toBody and toWorld.
func Attitude(q Quaternion, world, body, toWorld, toBody Frame) Quaternion {
	if !world.World() || !toWorld.World() || !body.Body() || !toBody.Body() {
		panic("frames: an attitude is between a frame of the body and one of the world")
	}
	up := Quaternion{half, half, 0, 0}
	if world == EUS && toWorld != EUS {
		world, q = ENU, Mul(up, q)
	}
	if body == FUR && toBody != FUR {
		body, q = FLU, Mul(q, up.Conj())
	}
	if toWorld == EUS && world != EUS || toBody == FUR && body != FUR {
		panic("frames: an attitude is given with z up")
	}
	if world != toWorld {
		// Half a turn about the bisector of x and y swaps them and turns z over.
		q = Mul(Quaternion{0, half, half, 0}, q)
	}
	if body != toBody {
		q = Mul(q, Quaternion{0, 1, 0, 0}) // half a turn about x
	}
	if q[0] < 0 { // the same attitude with a positive w
		return Quaternion{-q[0], -q[1], -q[2], -q[3]}
	}
	return q
}
