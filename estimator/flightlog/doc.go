// Package flightlog owns flight.msgpack, the log of a robot's flights: what the
// channels are, and what was measured and commanded when.
//
// A log is a header followed by records: the start of a segment (an unbroken
// stretch of recording), samples, plans, notes. Every record carries its length
// and a checksum, so a log that was cut off, zero-filled by a power cut or
// damaged in the middle is read up to the damage and after it, and the damage is
// reported by its place. FORMAT.md is the normative page.
//
// Three ways to write: [NewWriter] to any io.Writer, [CreateFile] for a log that
// appears under its name only when it is complete, [AppendFile] for a recording
// that must survive the loss of power at any moment. Two ways to read: [Reader]
// record by record in bounded memory, [ReadFile] the whole log at once.
//
// A log holds what was recorded, as it was recorded: times may run backwards or
// repeat, values may be frozen or absurd. Judging that is for the data check.
package flightlog
