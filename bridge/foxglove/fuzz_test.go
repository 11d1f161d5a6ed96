package foxglove

import (
	"slices"
	"testing"
)

// Whatever a client asks for: it is subscribed to channels that there are, to each once.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"op":"subscribe","subscriptions":[{"id":0,"channelId":1},{"id":1,"channelId":1}]}`), []byte(`{"op":"unsubscribe","subscriptionIds":[0]}`))
	f.Add([]byte(`{"op":"subscribe","subscriptions":[{"id":4294967296,"channelId":-1}]}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		s := &Server{channels: make([]Channel, 3)}
		c := &client{subscribed: map[uint32]int{}}
		for _, message := range [][]byte{first, second, first} {
			s.request(c, message)
			var seen []int
			for _, n := range c.subscribed {
				if n < 0 || n >= len(s.channels) || slices.Contains(seen, n) {
					t.Fatalf("%q: subscribed to %v", message, c.subscribed)
				}
				seen = append(seen, n)
			}
		}
	})
}
