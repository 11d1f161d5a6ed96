package trainer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Data is what remains of the logs after the check, cut into flights.
type Data struct {
	Vehicle  string
	Channels []channel.Channel  // states, then inputs
	Law      channel.Kinematics // declared laws of motion,
	Body     priordynamics.Body // and the states that they are of
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
		body, err := priordynamics.NewBody(&logs[0].Kinematics, channel.Select(d.Channels, channel.State))
		if err != nil {
			return nil, fmt.Errorf("%s: kinematics: %w; import it with another map", logs[0].Path, err)
		}
		d.Law, d.Body = logs[0].Kinematics, body
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
			d.Flights = append(d.Flights, window.Checked(len(d.Flights), seg, result.Masks[s], d.Channels, window.Options{MaxGap: time.Duration(cfg.MaxGap)})...)
		}
	}
	d.Hash = hex.EncodeToString(hash.Sum(nil))
	return d, nil
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

// enough returns an error that says what is missing, or nil, of what is left for training of
// so many seconds. share of what is recorded is held out; shorter finds a horizon that there
// is enough for, 0 if none is.
func enough(flights []window.Flight, windows []window.Window, recorded, horizon, share float64, shorter func() float64) error {
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
		return fmt.Errorf("no window of %g s fits: the longest stretch without a gap or excluded data lasts %.3g s; record longer%s", horizon, longest, orShorter(shorter()))
	}
	if usable < least*horizon {
		left := ""
		if share > 0 {
			left = " left for training"
		}
		// Where more is recorded more is held out, and beside it a stretch may be too short.
		more := math.Max((least+1)*horizon/(1-share)-recorded, (least*horizon-usable)/(1-share))
		more = math.Ceil(4*more/horizon) * horizon / 4
		return fmt.Errorf("%.3g s of usable data%s are fewer than %d horizons of %g s: record at least %.3g s more%s", usable, left, least, horizon, more, orShorter(shorter()))
	}
	return nil
}

// orShorter is advice to choose a horizon.
func orShorter(horizon float64) string {
	if horizon == 0 {
		return ""
	}
	return fmt.Sprintf(", or choose --horizon %gs or shorter", horizon)
}

// seconds returns how long flights last in all.
func seconds(flights []window.Flight) (sum float64) {
	for i := range flights {
		sum += flights[i].Duration()
	}
	return sum
}
