package wire

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Layout returns the fingerprint of the channels of a state: the first 16 hex digits
// of the SHA-256 of one line "role name unit\n" for each state, then for each input,
// in order, the unit as channel.CanonicalUnit spells it. A model of other channels
// refuses states with this fingerprint, even where the lengths agree.
func Layout(all []channel.Channel) string { return layout(all, channel.CanonicalUnit) }

// LayoutAsSpelt is the fingerprint with the units as they are spelt, which senders of the
// first programs have.
func LayoutAsSpelt(all []channel.Channel) string {
	return layout(all, func(unit string) string { return unit })
}

func layout(all []channel.Channel, spell func(unit string) string) string {
	h := sha256.New()
	for _, role := range []channel.Role{channel.State, channel.Input} {
		for _, c := range channel.Select(all, role) {
			h.Write([]byte(string(c.Role) + " " + c.Name + " " + spell(c.Unit) + "\n"))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
