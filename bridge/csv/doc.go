// Package csv turns tables of text into flight logs.
//
// A map (map.toml, see [Map]) says which column becomes which channel, and how
// time is written. [Import] reads one file or several, comma, semicolon or tab
// separated, plain, .gz or .zst, and writes one log: all of it, or nothing where
// anything is wrong.
//
// # What becomes of what
//
//   - Times are read as decimal numbers into int64 nanoseconds, exactly: a Unix
//     time in seconds with nine decimals does not survive a float64.
//   - An empty cell, NaN, NA, null or none means not measured, is NaN in the log
//     and is counted. Infinity and any other text are errors: a value that is
//     wrong must not become one that is missing without anybody having said so.
//   - A file begins a segment, and so do a new value in the segment column and a
//     gap longer than max_gap. A segment is named by the value in the segment
//     column, else by its file; with several files and a segment column by both,
//     as "file/value". The parts around a gap keep the name.
//   - A repeated time: the first row counts, the others are dropped, counted and
//     noted in the log (on_duplicate = "drop", "error" or "keep").
//   - A time that runs backwards within a segment is an error, because nothing
//     in the file says what it means: an unsorted file, a clock that was set, two
//     recordings in one file (on_backwards = "error", "segment" or "keep").
//   - A median step below 50 µs or from 1 s upwards is an error, because it
//     nearly always means that the unit of time is wrong (any_rate = true allows
//     it).
//   - Four columns of an [[attitude]] become roll, pitch and yaw, unwrapped within a
//     segment; where they are not of length 1 they are NaN, counted and noted.
//   - kinematics = "quadrotor" says that states are those of a rigid body. Where the
//     data contradict it, it is an error (package kinematics).
//   - A state without a derivative in the map gets one where the data show it
//     (package derivative); derivative = "none" says that there is none.
//
// Files are read twice, first to check everything and to find derivatives, which
// stand in the log's header, then to write. Memory does not depend on their
// length.
package csv
