// Package timebase puts topics of different rates on one time base.
//
// One topic is the base: its timestamps are the rows'. The values of the others at these
// times are found between the samples before and after, as each [Signal] asks for: on a
// straight line, on the short way around, by a turn at a constant rate, or held. Where the
// samples are further apart than a signal allows, it is not measured.
//
// A [Joiner] does it while a log streams by, in memory for a few seconds of messages,
// which may come in any order within that time.
//
// Before that a pass over the log makes a [Model] of its times: for each clock offset,
// rate and jumps, for each topic the order in which its messages are stored. A [Timeline]
// of the model brings each message to the clock of one topic, and says which epoch it
// belongs to: where a clock was set or a sender began anew, nothing before can be joined
// with what follows. A [Sorter] brings messages that are stored in another order, as topic
// after topic, into that of their times.
package timebase
