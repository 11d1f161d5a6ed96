// Package importer turns logs of topics and tables of text into flight logs.
//
// A [Map] (map.toml) names which fields of which topics, or which columns of a
// table, become which channels, in which unit and frame, and which part of the log
// is a flight. Presets are maps that come with the program; [Preset] returns one.
//
//   - One topic gives the rows their times: base, by default the slowest topic
//     that holds a state. States of other topics are interpolated to these times,
//     attitudes as rotations; inputs are held. What was done is reported and written into
//     the log as notes.
//   - Times are those of the measurement, where the format has them, on the clock of base: of
//     the clocks of several senders offset and rate are estimated and corrected, where they
//     are more than a delay (package timebase). Messages that are not stored in the order of
//     their times are sorted; where a clock was set or a sender began anew a segment begins.
//   - What would be left out so that the log is not what the map asks for (most rows, all
//     inputs, a channel) refuses the import ([LossError]).
//   - Values that the robot's estimator declares invalid ([Validity]) are not measured; where
//     it sets its state anew ([Reset]) a segment begins.
//   - A row belongs to the flight if it is in all phases of the map; each unbroken
//     part is a segment. A gap in the base longer than max_gap and a
//     new file begin a segment as well.
//   - A table is a source with one topic, whose rows package csv orders and divides into
//     segments. What cannot be read of it is an error; of a log of topics it is skipped
//     and counted with its place.
//   - kinematics = "quadrotor" is compared with the data (package kinematics). A
//     contradiction is an error; with kinematics_optional, as in the presets, the
//     position or the attitude is left out. A state without a derivative in the map gets
//     one where the data show it (package derivative).
//
// A log of topics is read three times: to count what is in it, to learn what the
// header declares, and to write. A table is read twice: its columns are known from
// its first line. Memory does not depend on the length of a log; what must be sorted goes to
// temporary files.
package importer
