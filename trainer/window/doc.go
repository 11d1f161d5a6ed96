// Package window cuts long flights into short overlapping windows of one
// horizon each, the trajectories that training and evaluation work on.
//
// A segment of a log becomes one or more Flights: stretches without a gap in
// time, with seconds as float64, angles unwrapped, and the running integral of
// every input. A Window is then only a pair of indices; states, displacements
// and means of the input are computed when asked for, into the caller's
// buffers. A log of any length costs its own samples and two integers a window.
//
// Rules, the same for trainer and evaluation:
//
//   - A window starts at a measured sample at which every state is finite and
//     every input known.
//   - A window is inside one Flight: it never crosses a gap.
//   - A state between samples is interpolated linearly, channel by channel, and
//     never across an interval that is a gap for that channel. What is compared with
//     predictions, and calibrates them, is measured: next to a sample of the channel, but
//     where hardly a window ends there (Interpolated).
//   - An input is held from its sample to the next one (zero-order hold). An
//     input that is missing from a sample keeps the value it had.
package window
