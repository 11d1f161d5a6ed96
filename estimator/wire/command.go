package wire

import "github.com/dgm-robotics/dgm/estimator/msgbin"

// Rollback is the action that takes the model before the one in use again.
const Rollback = "rollback"

// Command asks an estimator to do something with its models.
type Command struct {
	Action string // Rollback
}

// Append appends the message to dst.
func (c *Command) Append(dst []byte) []byte {
	dst = msgbin.AppendInt(msgbin.AppendString(msgbin.AppendMapHeader(dst, 2), "v"), Version)
	return msgbin.AppendString(msgbin.AppendString(dst, "action"), c.Action)
}

// Decode reads a message into c.
func (c *Command) Decode(b []byte) error {
	f := open(b)
	err := f.message(func(key []byte) error {
		switch string(key) {
		case "v":
			return f.version(0)
		case "action":
			return f.text(1, "action", &c.Action)
		}
		return f.skip(key)
	})
	if err != nil {
		return err
	}
	return f.needs("v", "action")
}

// Outcome is the answer to a Command.
type Outcome struct {
	Model string // ID of the model that is used from now on
	Error string // why not; "" = done
}

// Append appends the message to dst.
func (o *Outcome) Append(dst []byte) []byte {
	dst = msgbin.AppendInt(msgbin.AppendString(msgbin.AppendMapHeader(dst, 3), "v"), Version)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "model"), o.Model)
	return msgbin.AppendString(msgbin.AppendString(dst, "error"), o.Error)
}

// Decode reads a message into o.
func (o *Outcome) Decode(b []byte) error {
	f := open(b)
	err := f.message(func(key []byte) error {
		switch string(key) {
		case "v":
			return f.version(0)
		case "model":
			return f.text(1, "model", &o.Model)
		case "error":
			return f.text(2, "error", &o.Error)
		}
		return f.skip(key)
	})
	if err != nil {
		return err
	}
	return f.needs("v", "model", "error")
}
