// Package ardupilot reads ArduPilot's onboard logs (DataFlash, .BIN), by the
// published description of their records
// (https://ardupilot.org/dev/docs/code-overview-adding-a-new-log-message.html).
//
// A log describes itself: FMT records list the fields of a record, FMTU, UNIT
// and MULT in which units. Topics are named as the log names them; where a field
// is marked as an instance, as the number of a sensor, its value is the topic's
// instance. Values are as ArduPilot's tools give them: fields of the types c, C, e
// and E are divided by 100, L by 10⁷. Units are those of the value, with the prefix
// of the log's multiplier.
//
// A message's time is that of its sensor (SampleUS) where it has one, else of the
// record (TimeUS), since the autopilot was started. Where bytes are no record the
// reader continues at the next place at which records follow each other, and reports
// what it passed. Logs put one behind the other are read each by its own formats.
package ardupilot
