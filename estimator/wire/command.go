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
	f, err := open(b)
	if err != nil {
		return err
	}
	for {
		key, ok, err := f.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		switch string(key) {
		case "v":
			err = f.version(0)
		case "action":
			err = f.text(1, "action", &c.Action)
		default:
			err = f.skip(key)
		}
		if err != nil {
			return err
		}
	}
	if err := f.need(0, "v"); err != nil {
		return err
	}
	return f.need(1, "action")
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
	f, err := open(b)
	if err != nil {
		return err
	}
	for {
		key, ok, err := f.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		switch string(key) {
		case "v":
			err = f.version(0)
		case "model":
			err = f.text(1, "model", &o.Model)
		case "error":
			err = f.text(2, "error", &o.Error)
		default:
			err = f.skip(key)
		}
		if err != nil {
			return err
		}
	}
	for i, name := range [...]string{"v", "model", "error"} {
		if err := f.need(i, name); err != nil {
			return err
		}
	}
	return nil
}
