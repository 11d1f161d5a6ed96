// Package foxglove serves live data to Foxglove by its own WebSocket protocol
// (https://github.com/foxglove/ws-protocol), version 1, without ROS. It is
// read-only: clients subscribe and receive messages; other requests are ignored.
//
// A client that reads too slowly loses the oldest messages that wait for it, so that
// it gets the latest ones and delays no other client.
package foxglove
