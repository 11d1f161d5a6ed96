// Package link runs between a flight controller that speaks MSP (package msp) and NATS: what the controller answers goes out as
// dgm.state.<vehicle>. Either end may start first, stop and come back at any time.
package link
