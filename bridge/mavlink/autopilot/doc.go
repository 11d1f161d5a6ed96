// Package autopilot turns the messages that an autopilot sends into states of a
// vehicle, and predictions into messages that it understands. It has no I/O and no
// clock: times are arguments.
//
// # In
//
// A state is made when an attitude is received (ODOMETRY, ATTITUDE_QUATERNION or
// ATTITUDE), at the time at which it was measured. Positions of LOCAL_POSITION_NED are
// extrapolated to that time with their velocity; rates of HIGHRES_IMU and motors
// (ACTUATOR_OUTPUT_STATUS, SERVO_OUTPUT_RAW) are held. What is older than MaxAge is not
// used; where a channel's message is missing there is no state, and that is counted.
//
// Channels have the names of the presets: x, y, z, vx, vy, vz, roll, pitch, yaw, p,
// q, r, and m1, m2, … as inputs, in ned and frd or enu and flu. Stamps count from the
// autopilot's start; [timebase.ClockSync] turns them into this computer's time.
//
// # Out
//
// [Odometry] is the prediction at one horizon, as ODOMETRY in ned and frd, with the
// covariances turned into these axes. [Tunnels] is the whole horizon, a TUNNEL for
// each point of it, type 40001, little-endian:
//
//	bytes  what
//	0-3    uint32 number of the state that the prediction was made from
//	4-5    uint16 number of the point, from 0
//	6-7    uint16 how many points there are
//	8-11   float32 s after the state
//	12-    for each state channel: float32 mean, float32 std (of the state)
package autopilot
