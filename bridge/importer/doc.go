// Package importer turns logs of topics into flight logs, whatever format they
// have.
//
// A [Map] (map.toml) says which fields of which topics become which channels, in
// which unit and frame, and which part of the log is a flight. Presets are maps
// that come with the program; [Preset] returns one. A source of channels may have
// alternatives (or): the first one that is in the log is taken, so that one map
// serves several versions of a firmware.
//
// # What becomes of what
//
//   - One topic gives the rows their times: base, by default the slowest topic
//     that holds a state. States of other topics are interpolated to these times,
//     attitudes as rotations; inputs are held as they were last sent. How much of
//     that was done is reported, and written into the log as notes.
//   - Times are those at which the content was measured, where the format tells,
//     on one clock: offsets between the clocks of several senders are estimated,
//     corrected where they are more than a delay, and reported.
//   - A row belongs to the flight if all phases of the map say so; each unbroken
//     stretch is a segment. A phase whose topic is not in the log is left out and
//     reported.
//   - A gap in the base longer than max_gap, a clock that was set and a new file
//     begin a segment.
//   - kinematics = "quadrotor" is held against the data (package kinematics). What
//     they contradict is an error of a map that somebody wrote for the log; of a
//     preset the position or the attitude is left out, and told. So is what needs a
//     state that does not move.
//   - What could not be read is passed over, and counted with its place.
//
// A log is read three times: to count what is in it, to find derivatives that
// the map does not declare, and to write. Memory does not depend on its length.
package importer
