package ulog

// What is kept of a log, so that a hostile one needs no more memory than this.
const (
	maxFormats = 4096    // definitions of messages
	maxFields  = 4096    // fields of one definition, arrays counted once
	maxTopics  = 1 << 14 // topics, instances counted
	maxDepth   = 16      // types within types
	maxPayload = 1 << 16 // bytes of a message; its length is a uint16
	window     = 1 << 19 // bytes of the file that are held
	headerSize = 16      // of the file
	frameSize  = 3       // of a message: length, kind
	dataHead   = 2       // of a data message: its id
	stampSize  = 8       // of a timestamp
	chain      = 3       // messages in a row that must make sense after damage
)
