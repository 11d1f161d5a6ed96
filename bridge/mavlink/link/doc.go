// Package link runs between a MAVLink link and NATS: what the autopilot sends goes
// out as dgm.state.<vehicle>, and the predictions from it go to the autopilot as
// ODOMETRY and TUNNEL (package autopilot). Either end may start first, stop and come
// back at any time. Bytes that are no packet are counted and passed.
package link
