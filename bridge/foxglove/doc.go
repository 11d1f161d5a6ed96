// Package foxglove serves live data to Foxglove by its own WebSocket protocol
// (https://github.com/foxglove/ws-protocol), version 1, without ROS. It is
// read-only: clients subscribe and get messages; whatever else they send is
// answered by nothing.
//
// A client that reads too slowly loses the oldest messages that wait for it, so that
// it sees what is new and holds up nobody.
//
// The WebSocket protocol itself (RFC 6455) is here as far as a server of this kind
// needs it: the handshake, texts and binaries in one piece or several, ping, pong
// and close; no extensions.
package foxglove
