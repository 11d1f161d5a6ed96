// Package csv reads tables of text, comma, semicolon or tab separated, plain, .gz
// or .zst, as a [telemetry.Source]: one topic whose fields are the columns and whose
// messages are rows in the order of the file, divided into segments.
//
//   - Times are decimal numbers, read exactly into int64 nanoseconds: a Unix time in
//     seconds with nine decimals does not survive a float64.
//   - An empty cell, NaN, NA, null or none means not measured and is NaN. Infinity
//     and any other text are errors: a wrong value must not silently become a
//     missing one.
//   - A file begins a segment, and so do a new value in the segment column and a
//     gap longer than max_gap. A segment is named by the value in the segment
//     column, else by its file; with several files and a segment column by both,
//     as "file/value". The parts around a gap keep the name.
//   - Of rows with a repeated time the first counts, the others are dropped and
//     counted (on_duplicate = "drop", "error" or "keep").
//   - A time that runs backwards within a segment is an error, because nothing
//     in the file shows the reason: an unsorted file, a clock that was set, two
//     recordings in one file (on_backwards = "error", "segment" or "keep").
//   - A median step below 50 µs or from 1 s upwards is an error, because it
//     nearly always means that the unit of time is wrong (any_rate = true allows
//     it).
//
// Memory does not depend on the length of a file. Errors are *mapfile.Error, or of
// the file system.
package csv
