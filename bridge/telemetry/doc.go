// Package telemetry describes any log, whatever its format, as a
// stream of messages of named topics, each with the time at which its content
// was measured and the numeric fields that were asked for.
//
// A [Source] is one log being read, in memory that does not depend on its
// length. Every format has one (packages ulog, ardupilot, mavlink, mcap,
// crazyflie). What could not be read does not end the reading: it is skipped
// and put on a list of [Problems] by its place, its record and the reason.
//
// [Survey] reads a source to its end and counts what is in it.
package telemetry
