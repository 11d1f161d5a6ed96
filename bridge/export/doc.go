// Package export turns flight logs into files for the viewers that people have: a
// table of text, and MCAP for Foxglove and PlotJuggler, with the bands that a
// model predicts.
//
// # What is in the MCAP file
//
//	/dgm/<vehicle>/state             what was measured: a number for each state
//	/dgm/<vehicle>/input, …/aux      the same for the other roles
//	/dgm/<vehicle>/predict/500ms     mean, lower and upper of each state
//	/dgm/<vehicle>/status            how unlike the training data the state is
//	/dgm/<vehicle>/note              remarks
//
// A prediction has the time it is about, not the time at which it was made (made),
// so that a band covers the measurements that it predicts. lower and upper hold
// 95 % of measurements: mean ∓ 1.96 obs_std. The input was held, as it was not known
// ahead.
//
// Messages are CDR with a ROS 2 definition, one field for each channel, or JSON
// with a schema; both viewers read both without ROS. NaN is null in JSON.
package export
