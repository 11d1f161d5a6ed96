// Package ulog reads PX4's logs, by the published description of the ULog file
// format, version 1 (https://docs.px4.io/main/en/dev_log/ulog_file_format).
//
// The reader streams: it holds one window of the file and the definitions, within
// bounds. Topics are named as PX4 names
// them, their instance is the multi id. A message's time is its timestamp_sample
// where it has one, else its timestamp, both microseconds since the autopilot
// was started.
//
// Where bytes are no message, or one that contradicts the definitions, the
// reader looks for the next place from which several messages in a row make
// sense, or a synchronisation message, and reports what it skipped. What the logger
// itself reports as lost (dropouts) is on the list of problems, too.
package ulog
