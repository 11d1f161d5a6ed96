package foxglove

import "time"

// SetPatience sets after which time a client without subscriptions makes room.
func (s *Server) SetPatience(d time.Duration) { s.patience = d }
