package cdr

import (
	"fmt"
)

// Parse reads a schema in an encoding of MCAP, ros2msg or ros2idl, and returns
// the type of a name.
func Parse(encoding, name string, schema []byte) (*Type, error) {
	if len(schema) > maxSchema {
		return nil, fmt.Errorf("a schema of %d bytes, the limit is %d", len(schema), maxSchema)
	}
	switch encoding {
	case "ros2msg":
		return parseMsg(name, string(schema))
	case "ros2idl":
		return parseIDL(name, string(schema))
	}
	return nil, fmt.Errorf("schemas of %q are not read, only ros2msg and ros2idl", encoding)
}
