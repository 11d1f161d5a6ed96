// Package cdr reads numbers out of ROS 2 messages: it parses the two languages in
// which their types are written, ros2msg (.msg) and ros2idl (.idl), and walks the
// serialised bytes by them (CDR, the Common Data Representation of DDS, XTypes 1.3
// section 7.4; version 1 and plain version 2, both byte orders).
//
// A field is named by its path, as "pose.pose.position.x", "data[3]" or
// "transforms[0].header.stamp.sec". A [Reader] picks the fields that are wanted
// and skips the others; what a message does not have, as an element beyond
// the length of its sequence, is NaN.
package cdr
