package importer

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// spread keeps the lowest and highest value of each channel of one role.
type spread struct {
	low, high []float64
}

func newSpread(n int) spread {
	s := spread{make([]float64, n), make([]float64, n)}
	for i := range n {
		s.low[i], s.high[i] = math.Inf(1), math.Inf(-1)
	}
	return s
}

func (s *spread) add(x []float64) {
	for i, v := range x {
		if v < s.low[i] {
			s.low[i] = v
		}
		if v > s.high[i] {
			s.high[i] = v
		}
	}
}

// moves says whether channel i had more than one value.
func (s *spread) moves(i int) bool { return s.high[i] > s.low[i] }

// still finds the channels that the map wants only where they vary and that do
// not, and leaves them out of the header: keep says of each role which are left.
func (p *plan) still(spreads map[channel.Role]*spread) (left []string) {
	wanted := map[string]bool{}
	for i := range p.m.Channels {
		for _, name := range p.m.Channels[i].names() {
			wanted[name] = p.m.Channels[i].Varies
		}
	}
	p.keep = map[channel.Role][]int{}
	at := map[channel.Role]int{}
	var header []channel.Channel
	for _, c := range p.header {
		i := at[c.Role]
		at[c.Role]++
		if wanted[c.Name] && !spreads[c.Role].moves(i) {
			left = append(left, c.Name)
			continue
		}
		p.keep[c.Role] = append(p.keep[c.Role], i)
		header = append(header, c)
	}
	// Where nothing at all moves, the log is as it is.
	if len(left) == 0 || len(channel.Select(header, channel.State)) == 0 {
		p.keep = nil
		return nil
	}
	for i := range header {
		if d := header[i].Derivative; d != "" && channel.Index(header, d) < 0 {
			header[i].Derivative = ""
		}
	}
	p.header = header
	return left
}

// kept takes the values that are left of a role, in place.
func (p *plan) kept(role channel.Role, x []float64) []float64 {
	if p.keep == nil {
		return x
	}
	for to, from := range p.keep[role] {
		x[to] = x[from]
	}
	return x[:len(p.keep[role])]
}
