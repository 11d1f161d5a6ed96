// Package db3 reads bags of ROS 2 in SQLite (.db3) as a [telemetry.Source], in the order in
// which they were recorded.
//
// Bags of newer versions hold the definitions of their types. Those of older ones do not:
// those that come with ROS are known to package ros, of others the messages are only counted.
//
// Messages that a recorder left beside a bag (FILE-wal) when it was ended are read with it, in
// their places: nothing is copied or written.
package db3
