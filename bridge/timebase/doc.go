// Package timebase puts topics of different rates on one time base.
//
// One topic is the base: its timestamps are the rows'. The values of the others at these
// times are found between the samples before and after, as each [Signal] asks for: on a
// straight line, on the short way around, by a turn at a constant rate, or held. Where the
// samples are further apart than a signal allows, it is not measured.
//
// A [Joiner] does it while a log streams by, in memory for a few seconds of messages,
// which may come in any order within that time. [Clocks] estimates how far the clocks of
// several senders are apart, and [Guard] leaves single wild timestamps out.
package timebase
