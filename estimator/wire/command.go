package wire

import "github.com/dgm-robotics/dgm/estimator/internal/msgbin"

// The actions of a command.
const (
	Rollback        = "rollback"         // return to the model used before
	ResetAdaptation = "reset_adaptation" // forget what adaptation has learned
)

// Command asks an estimator to do something with its models.
type Command struct {
	Action    string // Rollback or ResetAdaptation
	Statement []byte // (optional) which model to go back to, see model.SignRollback
	Signature []byte // (optional) of the statement
}

func (c *Command) fields() [4]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("v", Version), msgbin.Required("action", &c.Action),
		msgbin.OmitZero("statement", &c.Statement), msgbin.OmitZero("signature", &c.Signature),
	}
}

// Append appends the message to dst.
func (c *Command) Append(dst []byte) []byte {
	f := c.fields()
	return encode(dst, f[:])
}

// Decode reads a message into c.
func (c *Command) Decode(b []byte) error {
	f := c.fields()
	return decode(b, f[:])
}

// Outcome is the answer to a Command.
type Outcome struct {
	Model string // ID of the model that is used from now on
	Error string // why not; "" = done
}

func (o *Outcome) fields() [3]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("v", Version), msgbin.Required("model", &o.Model), msgbin.Required("error", &o.Error),
	}
}

// Append appends the message to dst.
func (o *Outcome) Append(dst []byte) []byte {
	f := o.fields()
	return encode(dst, f[:])
}

// Decode reads a message into o.
func (o *Outcome) Decode(b []byte) error {
	f := o.fields()
	return decode(b, f[:])
}

// SwapPermission is what a vehicle publishes at least once in [PermissionHolds] while its model may be replaced.
type SwapPermission struct {
	Permitted bool
}

// PermissionHolds is the time, s, after which a permission has ended.
const PermissionHolds = 5

func (p *SwapPermission) fields() [2]msgbin.Field {
	return [...]msgbin.Field{msgbin.Required("v", Version), msgbin.Required("permitted", &p.Permitted)}
}

// Append appends the message to dst.
func (p *SwapPermission) Append(dst []byte) []byte {
	f := p.fields()
	return encode(dst, f[:])
}

// Decode reads a message into p.
func (p *SwapPermission) Decode(b []byte) error {
	f := p.fields()
	return decode(b, f[:])
}

// ModelHeader is the header of an object that holds a model, with the ID of that.
const ModelHeader = "Dgm-Model"
