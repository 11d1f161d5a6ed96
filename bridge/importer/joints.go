package importer

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// jointName matches a numbered angle of a joint, as J1, q_2, actual_q_0 and joint[3]: what is ahead of its number.
var jointName = regexp.MustCompile(`(?i)^((?:.*[^a-z])?(?:j|q|jnt|joint|joints|axis|theta|th|qpos)(?:[_ ]?(?:pos|position|angle))?[_ .\[]*)\d{1,2}\]?$`)

// jointOf returns what the names of the joints of a robot have in common; "" of what is called as none.
func jointOf(name string) string {
	if m := jointName.FindStringSubmatch(name); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

// What angles of joints reach, in turns.
const (
	farTurns  = 2   // radians beyond: no joint of an arm has so many turns
	mostTurns = 400 // degrees beyond: it turns on, as a wheel
)

// jointUnits finds the unit of numbered joints that have none: degrees where those of one robot reach further than joints do in radians.
// Those of which that is not known are named by the comment that it returns, ahead of a map.
func jointUnits(columns []csv.Column, but func(i int) bool) string {
	far, names, order := map[string]float64{}, map[string][]int{}, []string{}
	for i := range columns {
		c := &columns[i]
		if of := jointOf(c.Name); of != "" && c.Unit == "" && c.Others == 0 && c.Not+c.Same == "" && c.Numbers > 0 && !but(i) && !drives(c.Name, "") {
			if names[of] == nil {
				order = append(order, of)
			}
			names[of], far[of] = append(names[of], i), max(far[of], -c.Low, c.High)
		}
	}
	text := ""
	for _, of := range order {
		at := names[of]
		if len(at) < 2 {
			continue
		}
		first, last := columns[at[0]].Name, columns[at[len(at)-1]].Name
		if far[of] <= farTurns*channel.Angle || far[of] > mostTurns {
			text += fmt.Sprintf("# %s to %s have no unit: write unit = \"rad\" or \"deg\" for angles, \"m\" for positions.\n", first, last)
			continue
		}
		text += fmt.Sprintf("# GUESSED: %s to %s are in degrees, because they reach %.4g: in radians that would be %.1f turns. If they are in radians, write unit = \"rad\".\n", first, last, far[of], far[of]/(2*math.Pi))
		for _, i := range at {
			columns[i].Unit = "deg"
		}
	}
	return text
}

// joints reports joints of a table whose unit nothing says: degrees would be taken for radians.
func (out *remarks) joints(channels []channel.Channel) {
	var names []string
	for _, c := range channels {
		if c.Role == channel.State && c.Unit == "" && jointOf(c.Name) != "" {
			names = append(names, c.Name)
		}
	}
	if len(names) > 1 {
		out.add("unit", Info, "", "%s have no unit", strings.Join(names, ", ")).Remedy = "write unit = \"rad\" or \"deg\" for angles, \"m\" for positions"
	}
}
