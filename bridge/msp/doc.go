// Package msp speaks the MultiWii Serial Protocol, by which flight controllers with Betaflight or INAV answer requests. It has no I/O
// and no clock: bytes and times are arguments.
//
// # Frames
//
//	version 1  $ M < length command payload checksum              (the exclusive or of all bytes from the length on)
//	           $ M < 255 command length₁₆ payload checksum        (a reply of 255 bytes or more)
//	version 2  $ X < 0 command₁₆ length₁₆ payload checksum        (CRC-8 DVB-S2 of all bytes from the 0 on)
//
// Numbers are little-endian. The third byte is < in a request, > in a reply and ! in the reply to what the controller does not know.
// Replies have no number of their request: one request is under way at a time. Betaflight answers several messages in one
// (MSP_MULTIPLE_MSP), with its time among them.
//
// # What is measured
//
// Values have the names and units of the fields in the controller's blackbox (package blackbox), so the maps of its logs apply
// ([Assembler]). The steps are what the protocol rounds to; heading is cut off, so half a step is added.
//
//	message        fields                       unit, step       remark
//	MSP_RAW_IMU    gyroADC[0..2]                deg/s, see below forward, left, up; its acceleration is not read: the unit is the board's
//	MSP_ATTITUDE   imuQuaternion, attitude[0,1] deg, 0.1         roll and pitch
//	               imuQuaternion, attitude[2]   deg, 1           heading
//	MSP_ALTITUDE   navPos[2], navVel[2]         m, m/s, 0.01     estimated height and its rate
//	MSP_MOTOR      motor[0..7]                  1, 0.001         share of the range above idle
//	MSP_SERVO      servo[0..7]                  1, 0.002         −1 to 1
//	MSP_ANALOG     vbatLatest                   V, 0.01          steps of 0.1 V by INAV
//	MSP_STATUS     whether it is armed
//
// INAV sends rates in deg/s, Betaflight what its gyroscope measures: 2,000 deg/s in 15 bits but of a few types ([NewController]).
//
// Not in MSP, or not as the blackbox has it, are setpoints, the position of GPS, rotor speeds and the signals of single control loops.
package msp
