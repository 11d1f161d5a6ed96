package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/trainer/datacheck"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// Facts are what is known of a training beside its scores: they are the measured causes of a verdict, and what to do about them.
type Facts struct {
	Partial  string              // why the training ended early; empty = it did not
	Quick    bool                // no more effort than the quick preset
	NoInputs bool                // the model reads no input
	Feedback []string            // inputs that follow from the state in the logs
	Repeated int                 // flights that repeat one trajectory; 0 = they do not all
	Found    []datacheck.Problem // findings of the data check
}

// limits returns what a user of the model must know before its scores, in few words.
func (f *Facts) limits() (out []string) {
	for _, l := range []struct {
		there bool
		text  string
	}{{f.Partial != "", "partial"}, {f.Quick, "quick preset"}, {f.NoInputs, "no inputs"}} {
		if l.there {
			out = append(out, l.text)
		}
	}
	return out
}

// still is how many standard deviations of its sensor a state moves over the longest horizon at least, to be learned.
const still = 2

// causes returns, the first one the most likely, what in logs and settings can make scores bad, each with what to do.
func (f *Facts) causes(t *evaluate.Table) (out []aspect) {
	add := func(there bool, sentence, next string) {
		if there {
			out = append(out, aspect{level: Use, sentence: sentence, next: next})
		}
	}
	flagged := t.FlaggedOOD()
	add(flagged >= mostFlagged || flagged >= manyFlagged && t.Origin() == evaluate.Evaluated, "", unlike)
	add(f.NoInputs, "The model has no inputs: it does not know the effect of commands.",
		"Name the commands as inputs in the map (role = \"input\"), if the robot has any, and train again.")
	if constant := named(f.Found, datacheck.Constant); len(constant) > 0 {
		add(true, fmt.Sprintf("Constant in the logs: %s.", list(constant)), fmt.Sprintf("Record flights in which %s varies: its effect could not be learned.", list(constant)))
	}
	if len(f.Feedback) > 0 {
		add(true, fmt.Sprintf("In the logs %s follows from the state (feedback): its effect cannot be separated from the robot's own motion.", list(f.Feedback)),
			fmt.Sprintf("Record flights with other commands, or add small random steps to %s.", list(f.Feedback)))
	}
	add(len(t.Slow) > 0, fmt.Sprintf("Less than 20 Hz were measured of %s.", list(t.Slow)),
		fmt.Sprintf("Log %s at 50 Hz or more (less than 20 Hz were measured; dgm-bridge import names the setting), in four flights or more.", list(t.Slow)))
	if resting := unmoved(t); len(resting) > 0 {
		add(true, fmt.Sprintf("Within the noise of the sensor over the whole horizon: %s.", list(resting)), fmt.Sprintf("Record flights in which %s moves more.", list(resting)))
	}
	add(t.NoiseShare() > noisy, "", "More flights will not help: most of the error is sensor noise, and only less noise reduces it.")
	add(f.Repeated > 0, fmt.Sprintf("All %d flights repeat one trajectory.", f.Repeated), "Record other trajectories: a model of one does not predict another.")
	add(f.Quick, "", "Train with the default preset.")
	return out
}

// unmoved returns the states that move no more than the noise of their sensors over the longest horizon.
func unmoved(t *evaluate.Table) (names []string) {
	for _, c := range t.Horizons[len(t.Horizons)-1].Channels {
		if c.Hold < still*c.Noise {
			names = append(names, c.Name)
		}
	}
	return names
}

// named returns the channels of a kind of findings, each once.
func named(found []datacheck.Problem, kind datacheck.Kind) (names []string) {
	seen := map[string]bool{"": true}
	for _, p := range found {
		if p.Kind == kind && !seen[p.Channel] {
			seen[p.Channel], names = true, append(names, p.Channel)
		}
	}
	return names
}

func list(names []string) string { return strings.Join(names, ", ") }

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
