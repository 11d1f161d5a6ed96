package cdr

import (
	"fmt"
)

// Parse reads a schema in an encoding of MCAP, ros2msg, ros2idl or ros1msg, and returns
// the type of a name. Messages of ROS 1 are not in CDR, but in its own encoding, in which
// nothing is aligned.
func Parse(encoding, name string, schema []byte) (*Type, error) {
	if len(schema) > maxSchema {
		return nil, fmt.Errorf("a schema of %d bytes, the limit is %d", len(schema), maxSchema)
	}
	switch encoding {
	case "ros2msg":
		return parseMsg(name, string(schema), false)
	case "ros1msg":
		return parseMsg(name, string(schema), true)
	case "ros2idl":
		return parseIDL(name, string(schema))
	}
	return nil, fmt.Errorf("schemas of %q are not read, only ros2msg, ros2idl and ros1msg: record the topics by ROS 2 itself (ros2 bag record -s mcap)", encoding)
}
