// Package importer converts logs of topics and text tables to flight logs.
//
// A [Map] (map.toml) assigns fields of topics, or columns of a
// table, to channels with unit and frame, and selects the part of the log
// that is a flight. Presets are built-in maps; [Preset] returns one.
//
//   - One topic gives the rows their times: base, by default the slowest topic
//     with a state. States of other topics are interpolated to these times,
//     attitudes as rotations; inputs are held. The import reports this, and writes it to
//     the log as notes.
//   - Times are those of the measurement, if the format has them, on the clock of base. Offset
//     and rate of other senders' clocks are estimated and corrected, if they
//     are more than a delay (package timebase). Messages are sorted by their times.
//     A clock that was set, or a restarted sender, begins a segment.
//   - An import that would lose most rows, all inputs or a channel of the map is refused
//     ([LossError]).
//   - Values that the robot's estimator declares invalid ([Validity]) are not measured; a
//     reset of its state ([Reset]) begins a segment.
//   - A row belongs to the flight if it is in all phases of the map; each unbroken
//     part is a segment. A gap in the base longer than max_gap and a
//     new file also begin a segment.
//   - A table is a source with one topic, whose rows package csv orders and divides into
//     segments. Unreadable data in a table are an error; in a log of topics they are skipped
//     and counted with their place.
//   - kinematics = "quadrotor" is compared with the data (package kinematics). A
//     contradiction is an error; with kinematics_optional, as in the presets, the
//     position or the attitude is left out. A state without a derivative in the map gets
//     one if the data show it (package derivative).
//
// A log of topics is read three times: to count its contents, to determine the header,
// and to write. A table is read twice, because its columns are known from
// its first line. Memory does not depend on the length of a log; data to be sorted are stored in
// temporary files.
package importer
