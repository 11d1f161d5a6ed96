package wire

import "github.com/dgm-robotics/dgm/estimator/internal/msgbin"

// The actions of a command.
const (
	Rollback        = "rollback"         // return to the model used before
	ResetAdaptation = "reset_adaptation" // forget what adaptation has learned
)

// Command is a request to an estimator about its models.
type Command struct {
	Action    string `msg:"action"`             // Rollback or ResetAdaptation
	Statement []byte `msg:"statement,omitzero"` // (optional) which model to go back to, see model.SignRollback
	Signature []byte `msg:"signature,omitzero"` // (optional) of the statement
}

var commandKeys = msgbin.KeysOf[Command](limits)

// Append appends the message to dst.
func (c *Command) Append(dst []byte) []byte { return encode(dst, commandKeys, c) }

// Decode reads a message into c.
func (c *Command) Decode(b []byte) error { return decode(b, commandKeys, c) }

// Outcome is the answer to a Command.
type Outcome struct {
	Model string `msg:"model"` // ID of the model that is used from now on
	Error string `msg:"error"` // why not; "" = done
}

var outcomeKeys = msgbin.KeysOf[Outcome](limits)

// Append appends the message to dst.
func (o *Outcome) Append(dst []byte) []byte { return encode(dst, outcomeKeys, o) }

// Decode reads a message into o.
func (o *Outcome) Decode(b []byte) error { return decode(b, outcomeKeys, o) }

// SwapPermission is a vehicle's permission to replace its model, published at least once in PermissionHolds.
type SwapPermission struct {
	Permitted bool `msg:"permitted"`
}

// PermissionHolds is the time, s, after which a permission has ended.
const PermissionHolds = 5

var swapPermissionKeys = msgbin.KeysOf[SwapPermission](limits)

// Append appends the message to dst.
func (p *SwapPermission) Append(dst []byte) []byte { return encode(dst, swapPermissionKeys, p) }

// Decode reads a message into p.
func (p *SwapPermission) Decode(b []byte) error { return decode(b, swapPermissionKeys, p) }

// ModelHeader is the header of an object that holds a model, with the ID of that.
const ModelHeader = "Dgm-Model"
