// Package frames owns every conversion of frames and units in the bridge:
// vectors between NED and ENU, FRD and FLU, attitudes between those pairs,
// quaternions to and from Euler angles, and units to the ones that logs hold.
//
// World frames: ned (x north, y east, z down), enu (x east, y north, z up).
// Body frames: frd (x forward, y right, z down), flu (x forward, y left, z up).
// A quaternion is w, x, y, z, of Hamilton's kind, and turns vectors of the body
// into vectors of the world: v_world = q v_body q*. Euler angles are roll,
// pitch, yaw in radians, in the order yaw about z, pitch about the new y, roll
// about the new x (DIN 9300, ISO 1151-2; Diebel 2006, "Representing Attitude",
// sequence 1-2-3).
package frames
