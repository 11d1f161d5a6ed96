// Package live joins logs to running estimators over NATS: [Play] publishes a
// flight log as a robot would, [Record] writes the states that a robot publishes into a
// log, and [View] shows them and the predictions from them in Foxglove.
//
// A log that is played gets new timestamps, from the time at which its first sample is
// sent, with the steps of the log divided by the speed.
package live
