// Package blackbox reads the logs of the flight data recorder in Betaflight, INAV and other
// firmwares that come from Cleanflight (.bbl, .bfl, .txt), version 2 of its data.
//
// A log is lines of text, "H name:value", with the fields of each kind of frame, then frames: I (main, whole), P (main, as
// differences from the ones before), S (rarely changing), G and H (position and home of GPS) and E (events). A file holds
// the logs of several flights, each with a header of its own. Times count µs since the flight controller was started.
//
// Topics are main, slow and gps, fields those of the header, as gyroADC[0], in units by the header: rates in deg/s,
// specific force in m/s², motors as shares of what they are commanded at most (0 to 1). Of the attitude quaternion three parts are in a
// log; imuQuaternion[w] is the fourth.
//
// Format: the recorder's description in Betaflight (src/main/blackbox) and its decoders, which share no code with this.
package blackbox
