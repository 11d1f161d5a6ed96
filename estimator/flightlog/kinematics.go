package flightlog

import (
	"errors"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// kinematicsGroups lists the groups of names by their fields.
func kinematicsGroups(k *channel.Kinematics) map[string]*[]string {
	return map[string]*[]string{"position": &k.Position, "velocity": &k.Velocity, "attitude": &k.Attitude, "rates": &k.Rates}
}

// appendKinematics appends the header's field of that name; groups that are empty
// are left out.
func appendKinematics(dst []byte, k *channel.Kinematics) []byte {
	groups := kinematicsGroups(k)
	n := 1
	for _, names := range groups {
		if len(*names) > 0 {
			n++
		}
	}
	if k.InBody {
		n++
	}
	dst = msgbin.AppendMapHeader(dst, n)
	dst = msgbin.AppendString(msgbin.AppendString(dst, "law"), k.Relation)
	for _, field := range []string{"position", "velocity", "attitude", "rates"} {
		names := *groups[field]
		if len(names) == 0 {
			continue
		}
		dst = msgbin.AppendArrayHeader(msgbin.AppendString(dst, field), len(names))
		for _, name := range names {
			dst = msgbin.AppendString(dst, name)
		}
	}
	if k.InBody {
		dst = msgbin.AppendBool(msgbin.AppendString(dst, "in_body"), true)
	}
	return dst
}

func parseKinematics(r *msgbin.Reader) (k channel.Kinematics, err error) {
	pairs, err := r.Map(64)
	if err != nil {
		return k, err
	}
	groups := kinematicsGroups(&k)
	for range pairs {
		key, err := r.StringBytes(MaxName)
		if err != nil {
			return k, err
		}
		field := string(key)
		switch names := groups[field]; {
		case field == "law":
			k.Relation, err = r.String(MaxName)
		case field == "in_body":
			k.InBody, err = r.Bool()
		case names != nil:
			*names, err = parseNames(r)
		default:
			err = r.Skip()
		}
		if err != nil {
			return k, within("."+field, err)
		}
	}
	if k.Relation == "" {
		return k, within(".law", errors.New("it is missing"))
	}
	return k, nil
}

// parseNames reads three names, each with or without a minus.
func parseNames(r *msgbin.Reader) ([]string, error) {
	n, err := r.Array(3)
	var names []string
	for i := 0; err == nil && i < n; i++ {
		var name string
		if name, err = r.String(MaxName + 1); err != nil {
			return nil, within(fmt.Sprintf("[%d]", i), err)
		}
		names = append(names, name)
	}
	return names, err
}
