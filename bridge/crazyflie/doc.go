// Package crazyflie reads the logs that a Crazyflie with a micro-SD card deck
// writes, by their published description (crazyflie-firmware, tools/usdlog),
// versions 1 and 2.
//
// A log begins with 0xBC, its version, and the kinds of events in it, each with a
// name and its variables; then the events, each with its kind and time; at
// the end a CRC-32 of all before it. Topics are the kinds of events, as
// fixedFrequency, fields the variables, as stateEstimate.x. Times are those of the
// firmware, since it was started.
package crazyflie
