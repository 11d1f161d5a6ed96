package flightlog

// The limits of readers and writers. Every length in a log is compared with its
// limit and with the bytes that are left before memory is allocated for it.
const (
	MaxHeader   = 1 << 20         // bytes of the encoded header
	MaxChannels = 1024            // channels of all roles
	MaxName     = 256             // bytes of a vehicle's, channel's or segment's name, a unit or a frame
	MaxSource   = 4096            // bytes of the header's source
	MaxText     = 64 << 10        // bytes of a note
	MaxPayload  = 1 << 20         // bytes of one record's payload
	recordMax   = MaxPayload + 32 // bytes of one record, all of it
)
