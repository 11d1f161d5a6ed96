// Package telemetry describes any log as a stream of messages of named topics, each with
// the time at which its content was measured and the numeric fields that were asked for.
//
// A [Source] is one log being read, in memory that does not depend on its
// length. What could not be read is skipped and put on a list of [Problems] by its place,
// its record and the reason. [Survey] counts what is in a source.
package telemetry
