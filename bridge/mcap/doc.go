// Package mcap reads MCAP files (https://mcap.dev/spec), as ROS 2 records them: in
// the order of the file, without its index, so that a file that was cut off is read
// up to the cut. The records are those of the lexer of github.com/foxglove/mcap;
// around it this package bounds the memory, continues behind damage at the next
// chunk, and reports the place of every byte that is not read. Chunks may be plain,
// lz4 or zstd; their checksums are tested.
//
// Topics have the names of their channels; several channels of one name are
// instances. Fields are read where messages are CDR and the schema is ros2msg or
// ros2idl (package cdr); messages of other encodings are counted. A message's time
// is the timestamp of its header where it has one, else when it was recorded.
package mcap
