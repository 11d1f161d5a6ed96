// Package mavlink reads telemetry logs of MAVLink messages (.tlog), versions 1
// and 2, as ground stations write them: before each packet the time at which it
// was received, microseconds since 1970, big-endian.
//
// Topics are named as MAVLink names its messages. Instance 0 is the autopilot
// (component 1) that sends one first; other senders of the same message have 1, 2,
// … in the order of their first messages. A topic's clock is its sender, as "1/1" for
// system 1, component 1. A message's time is the one it was stamped with
// (time_boot_ms, or time_usec) where it has one, else the time of reception. Fields are
// named and read as in the message's definition, in the units of the wire.
//
// Packets with a wrong checksum, of messages that are not defined here, and bytes
// that are no packet are skipped and reported.
package mavlink
