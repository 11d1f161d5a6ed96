package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/derivative"
	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// mostProblems is how many places that could not be read are reported one by one.
const mostProblems = 20

// importReport is what import --json writes.
type importReport struct {
	Rows     int                 `json:"rows"`
	Segments int                 `json:"segments"`
	Channels []importer.Measured `json:"channels"`
	Remarks  []importer.Remark   `json:"remarks"`
	Clocks   []importer.Clock    `json:"clocks"`
}

func newImportReport(s *importer.Summary) *importReport {
	r := &importReport{s.Rows, s.Segments, s.Channels, []importer.Remark{}, s.Clocks}
	r.Remarks = append(r.Remarks, s.Remarks...)
	for _, f := range s.Found {
		r.Remarks = append(r.Remarks, importer.Remark{Kind: "derivative", Severity: importer.Info, Text: foundText(f)})
	}
	r.Remarks = append(r.Remarks, nearRemarks(s.Near)...)
	for _, text := range s.Problems[:min(len(s.Problems), mostProblems)] {
		r.Remarks = append(r.Remarks, importer.Remark{Kind: "unread", Severity: importer.Warning, Text: text})
	}
	if n := len(s.Problems) - mostProblems; n > 0 {
		r.Remarks = append(r.Remarks, importer.Remark{Kind: "unread", Severity: importer.Warning, Text: cli.Count(n, "place") + " more", Remedy: "dgm-bridge topics lists all"})
	}
	return r
}

func foundText(f derivative.Found) string {
	return fmt.Sprintf("derivative of %s is %s, by the data (slope %.4f, correlation %.4f)", f.Channel, f.Derivative, f.Slope, f.Correlation)
}

// nearRemarks are about pairs that are nearly a channel and its derivative; those whose units differ in one way are one remark.
func nearRemarks(near []derivative.Found) (all []importer.Remark) {
	byUnits := func(f derivative.Found) bool { return f.Units != derivative.Units{} && f.Heading == "" && f.Sign == 0 }
	for i, f := range near {
		switch {
		case !byUnits(f):
			all = append(all, nearRemark(f))
		case !slices.ContainsFunc(near[:i], func(o derivative.Found) bool { return byUnits(o) && o.Units == f.Units }):
			all = append(all, unitRemark(slices.DeleteFunc(slices.Clone(near), func(o derivative.Found) bool { return !byUnits(o) || o.Units != f.Units })))
		}
	}
	return all
}

// unitRemark is about channels that differ from their derivatives by one ratio of units.
func unitRemark(pairs []derivative.Found) importer.Remark {
	var channels, rates []string
	for _, f := range pairs {
		channels, rates = append(channels, f.Channel), append(rates, f.Derivative)
	}
	f, seem := pairs[0], "seems"
	if len(pairs) > 1 {
		seem = "seem"
	}
	x, v := strings.Join(channels, ", "), strings.Join(rates, ", ")
	r := importer.Remark{Kind: "unit", Severity: importer.Warning, Text: fmt.Sprintf("%s %s to be in %s, and %s in %s: by the data %s changes %.4g times as fast as %s says, and no derivative is declared", x, seem, f.Units.Channel, v, f.Units.Derivative, f.Channel, f.Slope, f.Derivative)}
	switch f.Units.Channel {
	case "degrees":
		r.Remedy = fmt.Sprintf("if they are, write unit = \"rad\" and from = \"deg\" for %s, and unit = \"rad/s\" for %s", x, v)
	case "radians":
		r.Remedy = fmt.Sprintf("if they are, write unit = \"rad\" for %s, and unit = \"rad/s\" and from = \"deg/s\" for %s", x, v)
	default:
		r.Remedy = fmt.Sprintf("if they are, write scale = %.6g for %s", 1/f.Slope, x)
	}
	return r
}

// nearRemark is about a pair that is nearly a channel and its derivative.
func nearRemark(f derivative.Found) importer.Remark {
	switch {
	case f.Heading != "":
		return importer.Remark{Kind: "derivative", Severity: importer.Info, Text: fmt.Sprintf("%s moves %s along %s: it is not its derivative", f.Derivative, f.Channel, f.Heading)}
	case f.Sign == derivative.Opposite:
		return importer.Remark{Kind: "sign", Severity: importer.Warning, Text: fmt.Sprintf("%s moves opposite to %s: their signs or axes differ, and it is not used as its derivative", f.Channel, f.Derivative), Remedy: "write scale = -1 for the one whose sign is wrong, if their axes are not opposite (z up, w down)"}
	case f.Sign == derivative.Turned:
		return importer.Remark{Kind: "sign", Severity: importer.Warning, Text: fmt.Sprintf("%s moves along %s in some parts and opposite to it in others: the sign of one of them changes within the log", f.Channel, f.Derivative), Remedy: "import the parts, or files, by themselves, with scale = -1 where the sign is wrong"}
	}
	return importer.Remark{Kind: "derivative", Severity: importer.Info, Text: fmt.Sprintf("derivative of %s is perhaps %s (slope %.4f, correlation %.4f): not used", f.Channel, f.Derivative, f.Slope, f.Correlation),
		Remedy: fmt.Sprintf("if it is, write derivative = %q, or correct scale", f.Derivative)}
}

// report writes what was written and what the user should know about it.
func report(w io.Writer, s *importer.Summary, written bool) (err error) {
	if written {
		_, err = fmt.Fprintf(w, "wrote %s: vehicle %s, %s in %s, %.6g s\n", s.Out, s.Vehicle, cli.Count(s.Rows, "row"), cli.Count(s.Segments, "segment"), 1e-9*float64(s.Duration))
	}
	for _, f := range s.Found {
		fmt.Fprintln(w, foundText(f))
	}
	for _, r := range slices.Concat(nearRemarks(s.Near), s.Remarks) {
		switch r.Severity {
		case importer.Info:
			fmt.Fprintln(w, r)
		case importer.Warning:
			fmt.Fprintln(w, "warning:", r)
		case importer.Loss:
			if written { // else it is the error
				fmt.Fprintln(w, "loss:", r)
			}
		}
	}
	for _, text := range s.Problems[:min(len(s.Problems), mostProblems)] {
		fmt.Fprintln(w, "not read: "+text)
	}
	if n := len(s.Problems) - mostProblems; n > 0 {
		fmt.Fprintf(w, "not read: %s more; dgm-bridge topics lists all\n", cli.Count(n, "place"))
	}
	return err
}
