// Package mcap reads MCAP files (https://mcap.dev/spec), as ROS 2 records them: in
// the order of the file, without its index, so that a file that was cut off is read
// up to the cut. Chunks may be plain, lz4 or zstd; their checksums are tested. What
// the file says of itself - message indexes, chunk indexes, statistics, checksums,
// footer - is held against what was read: where it disagrees it is told as a problem,
// because other programs find messages by it, and costs no message here.
//
// Topics have the names of their channels; several channels of one name are
// instances. Fields are read where messages are CDR and the schema is ros2msg or
// ros2idl (package cdr); messages of other encodings are counted. A message's time
// is the stamp of its header where it has one, else when it was recorded.
package mcap
