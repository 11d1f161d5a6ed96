// Package ros makes telemetry of the messages of ROS, whatever file they were recorded in:
// fields by the definitions of their types (package cdr), times by the stamps in them, and
// senders by what they say of themselves.
//
// Several publishers of a topic are distinguished by the frames that their messages name, each
// transform of a message by its own; joints are found by their names in every message.
package ros
