package wire

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Layout returns the fingerprint of the channels of a state: the first 16 hex digits
// of the SHA-256 of one line "role name unit\n" for each state, then for each input,
// in order. A model of other channels refuses states with this fingerprint, even
// where the lengths agree.
func Layout(all []channel.Channel) string {
	h := sha256.New()
	for _, role := range []channel.Role{channel.State, channel.Input} {
		for _, c := range channel.Select(all, role) {
			h.Write([]byte(string(c.Role) + " " + c.Name + " " + c.Unit + "\n"))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
