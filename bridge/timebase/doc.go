// Package timebase puts topics of different rates on one time base.
//
// One topic is the base: its timestamps are the rows'. The values of the other topics at
// those stamps is found between the samples before and after, in the way that
// each [Signal] asks for: a state on a straight line, an angle on the short way
// around, an attitude by a turn at a constant rate, an input as it was last
// commanded. Nothing is invented over a gap: where the samples are further apart
// than a signal allows, it is not measured.
//
// A [Joiner] does it while a log streams by. It waits with a row until the log has
// gone past it by longer than any signal would allow, so it needs memory for a few
// seconds of messages and none for the length of the log. Messages may come in any
// order within that time.
//
// [Clocks] estimates how far the clocks of several senders are apart, and
// [Guard] keeps single wild timestamps from counting as the passing of time.
package timebase
