package report

import (
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/trainer/datacheck"
)

// mostMends bounds the findings that advice quotes.
const mostMends = 2

// mend says what to mend before more is recorded: the findings of the data check by which values
// are not what they are taken for, the first of each kind with its remedy; empty if there is none.
func mend(found []datacheck.Problem) string {
	var kinds []datacheck.Kind
	first := map[datacheck.Kind]datacheck.Problem{}
	others := map[datacheck.Kind][]string{} // channels with a finding like the first one
	for _, p := range found {
		of, seen := first[p.Kind]
		switch {
		case !p.Misread:
		case !seen:
			kinds, first[p.Kind] = append(kinds, p.Kind), p
		case p.Channel != of.Channel && p.Channel != "" && !slices.Contains(others[p.Kind], p.Channel):
			others[p.Kind] = append(others[p.Kind], p.Channel)
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	text := "Mend this first, and import the logs again:"
	for _, kind := range kinds[:min(len(kinds), mostMends)] {
		one, _, _ := strings.Cut(first[kind].Text, " The same in ") // the list of findings has the places
		text += " " + one
		if names := others[kind]; len(names) > 0 {
			text += " The data check found this kind in " + strings.Join(names, ", ") + ", too."
		}
	}
	if len(kinds) > mostMends {
		text += " The data check found more."
	}
	return text
}
