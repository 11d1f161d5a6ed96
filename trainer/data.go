package trainer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/rollout"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Data is what remains of the logs after the check, cut into flights.
type Data struct {
	Vehicle  string
	Channels []channel.Channel // states, then inputs
	Body     rollout.Body      // declared laws of motion
	Flights  []window.Flight
	Problems []Problem
	Hash     string // of all samples, hex
}

// Problem is a finding of the data check, with the log it is in.
type Problem struct {
	Log string `json:"log"`
	datacheck.Problem
}

// Vehicle is the kind of the note on a log of another robot than the first one's.
const Vehicle datacheck.Kind = "vehicle"

// Load checks the logs and cuts them into flights. Logs of different channels
// are an error that names the first difference, and so is a recording that is
// there twice: what is held out of one copy would be learned from the other.
func Load(logs []*flightlog.Log, cfg Config) (*Data, error) {
	d := &Data{}
	for i, log := range logs {
		all := slices.Concat(channel.Select(log.Channels, channel.State), channel.Select(log.Channels, channel.Input))
		if i == 0 {
			d.Vehicle, d.Channels = log.Vehicle, all
		} else if err := channel.SameLayout(d.Channels, all); err != nil {
			return nil, fmt.Errorf("%s: its channels are not those of %s: %w; import both with one map", log.Path, logs[0].Path, err)
		}
		if !log.Kinematics.Equal(&logs[0].Kinematics) {
			return nil, fmt.Errorf("%s: its kinematics are not those of %s; import both with one map", log.Path, logs[0].Path)
		}
	}
	if err := wire.CheckVehicle(d.Vehicle); len(logs) > 0 && err != nil {
		return nil, fmt.Errorf("%s: %w; a model of it could not be flown: record or import it under another name", logs[0].Path, err)
	}
	if len(logs) > 0 {
		body, err := rollout.NewBody(&logs[0].Kinematics, channel.Select(d.Channels, channel.State))
		if err != nil {
			return nil, fmt.Errorf("%s: kinematics: %w; import it with another map", logs[0].Path, err)
		}
		d.Body = body
	}
	if err := distinct(logs); err != nil {
		return nil, err
	}
	hash := sha256.New()
	for _, log := range logs {
		if log.Vehicle != d.Vehicle {
			d.Problems = append(d.Problems, Problem{log.Path, datacheck.Problem{Kind: Vehicle, Index: -1, Severity: datacheck.Note, Text: fmt.Sprintf(
				"%s is of vehicle %q, %s of %q: one model of both is learned, for %q. Leave it out unless the robots are of one kind.",
				log.Path, log.Vehicle, logs[0].Path, d.Vehicle, d.Vehicle)}})
		}
		result := datacheck.Check(log, datacheck.Options{Horizon: cfg.Horizon.Seconds()})
		for _, p := range result.Problems {
			d.Problems = append(d.Problems, Problem{log.Path, p})
		}
		if stop := result.Stop(); stop != nil {
			return d, fmt.Errorf("%s: %s", log.Path, stop.Text)
		}
		for s := range log.Segments {
			seg := &log.Segments[s]
			binary.Write(hash, binary.LittleEndian, seg.T)
			binary.Write(hash, binary.LittleEndian, seg.X)
			binary.Write(hash, binary.LittleEndian, seg.U)
			d.add(seg, s, &result, cfg)
		}
	}
	d.Hash = hex.EncodeToString(hash.Sum(nil))
	return d, nil
}

// Split parts the flights into those to train on and those held out.
type Split struct {
	Train, Held []window.Flight
	How         string
}

// minSegments is how many flights there must be to hold out whole ones.
const minSegments = 5

// split holds out a share of the data: whole flights where there are enough,
// else blocks of time, one out of each of several equal parts, so that they see
// the beginning and the end of a recording alike.
func split(flights []window.Flight, share, horizon float64, seed uint64) Split {
	if share <= 0 {
		return Split{Train: flights, How: "nothing held out"}
	}
	rng := rand.New(rand.NewPCG(seed, 0x73706c6974))
	total := 0.0
	long := 0
	for i := range flights {
		total += flights[i].Duration()
		if flights[i].Duration() >= 1.5*horizon {
			long++
		}
	}
	var s Split
	if long >= minSegments {
		held, shortest := 0.0, -1
		out := map[int]bool{}
		for _, i := range rng.Perm(len(flights)) {
			d := flights[i].Duration()
			if d < 1.5*horizon {
				continue
			}
			if shortest < 0 || d < flights[shortest].Duration() {
				shortest = i
			}
			if held+0.5*d > share*total {
				continue
			}
			out[i] = true
			held += d
		}
		if held == 0 { // even half of the shortest is more than was asked for
			out[shortest] = true
		}
		for i := range flights {
			if out[i] {
				s.Held = append(s.Held, flights[i])
			} else {
				s.Train = append(s.Train, flights[i])
			}
		}
		s.How = fmt.Sprintf("%d of %d segments held out whole", len(s.Held), len(flights))
		return s
	}
	blocks := 0
	for i := range flights {
		fl := &flights[i]
		parts := blockCount(fl.Duration(), share, horizon)
		if parts == 0 {
			s.Train = append(s.Train, *fl)
			continue
		}
		from := 0
		for j := range parts {
			start := fl.T[0] + fl.Duration()*float64(j)/float64(parts)
			room := fl.Duration() / float64(parts) * (1 - share)
			a := start + rng.Float64()*room
			b := a + share*fl.Duration()/float64(parts)
			ia, ib := sampleAt(fl, a), sampleAt(fl, b)
			if ia > from {
				s.Train = append(s.Train, fl.Slice(from, ia))
			}
			s.Held = append(s.Held, fl.Slice(ia, ib))
			blocks++
			from = ib
		}
		if from < fl.N() {
			s.Train = append(s.Train, fl.Slice(from, fl.N()))
		}
	}
	s.How = fmt.Sprintf("%d blocks of time held out", blocks)
	if blocks == 1 {
		s.How = "1 block of time held out"
	}
	return s
}

// blockCount returns into how many parts a flight is divided: as many as leave a
// held-out block of at least three horizons in each, at most four; 0 when even
// one block of one and a half horizons does not fit.
func blockCount(duration, share, horizon float64) int {
	for parts := 4; parts >= 1; parts-- {
		least := 3 * horizon
		if parts == 1 {
			least = 1.5 * horizon
		}
		if share*duration/float64(parts) >= least {
			return parts
		}
	}
	return 0
}

func sampleAt(fl *window.Flight, t float64) int {
	lo, hi := 0, fl.N()
	for lo < hi {
		mid := (lo + hi) / 2
		if fl.T[mid] < t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// interval returns the median time from one sample to the next, s; 0 without any.
func interval(flights []window.Flight) float64 {
	var dt []float64
	for i := range flights {
		t := flights[i].T
		for j := 1; j < len(t); j++ {
			dt = append(dt, t[j]-t[j-1])
		}
	}
	if len(dt) == 0 {
		return 0
	}
	slices.Sort(dt)
	return dt[len(dt)/2]
}

// samples counts the distinct samples of the flights.
func samples(flights []window.Flight) int {
	n := 0
	for i := range flights {
		n += flights[i].N()
	}
	return n
}

// least is how much data a training needs, in horizons that do not overlap.
const least = 8

// enough returns an error that says what is missing, or nil.
func enough(flights []window.Flight, windows []window.Window, horizon float64) error {
	if dt := interval(flights); horizon < 0.99*dt {
		return fmt.Errorf("a horizon of %.3g s is shorter than the time from one sample to the next, %.3g s: nothing was measured within it; choose a --horizon of %.2gs or more", horizon, dt, 10*dt)
	}
	longest, usable := 0.0, 0.0
	for i := range flights {
		d := flights[i].Duration()
		longest = math.Max(longest, d)
		if d >= horizon {
			usable += d
		}
	}
	if len(windows) == 0 {
		if longest >= horizon {
			return fmt.Errorf("no window of %g s can start, though stretches of %.3g s are whole: at no sample with %g s to come is every state and input measured; import them on common times, or give what is rarely measured the role aux", horizon, longest, horizon)
		}
		return fmt.Errorf("no window of %g s fits: the longest stretch without a gap or excluded data lasts %.3g s; choose a shorter --horizon or record longer", horizon, longest)
	}
	if usable < least*horizon {
		return fmt.Errorf("%.3g s of usable data are fewer than %d horizons of %g s: record at least %.3g s more, or choose --horizon %.2gs or shorter", usable, least, horizon, least*horizon-usable, usable/least)
	}
	return nil
}
