// Package csv reads tables of text, separated by commas, semicolons, tabs, bars (|) or spaces, plain,
// .gz or .zst, as a [telemetry.Source]: one topic whose fields are the columns and whose
// messages are rows in the order of the file, divided into segments.
//
//   - How a table is written is guessed from its first lines (layout.go). Text is UTF-8,
//     UTF-16 with a byte order mark or without, else ISO 8859-1.
//   - Times are decimal numbers, read exactly into int64 nanoseconds: a Unix time in
//     seconds with nine decimals does not survive a float64. Two columns may be one time,
//     dates and times of day are read as they are written. Times go on over leap seconds, and over
//     midnight. A change of their unit is an error.
//   - An empty cell, NaN, NA, null, none or -- is NaN: not measured. True and false are 1 and 0. Infinity and any other
//     text are errors.
//   - A segment begins with each file, at a new value in the segment column and at a gap
//     longer than max_gap. Its name is that value, else the file's, with several files
//     and a segment column "file/value".
//   - Of rows with a repeated time the first counts, or they are spread evenly where the clock is
//     coarser than they are (on_duplicate). A time that runs
//     backwards within a segment is an error (on_backwards), because nothing in the file
//     shows the reason.
//   - A median step below 50 µs or from 1 s upwards is an error, because the unit of
//     time is most likely wrong (any_rate = true allows it).
//
// [OpenJoined] reads tables as topics instead: columns that are filled in rows of their own,
// or in files of their own. [Look] shows what a table holds.
//
// Memory does not depend on the length of a file. Errors are *mapfile.Error, or of
// the file system.
package csv
