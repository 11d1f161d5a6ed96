package inspect

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// mostSegments is how many segments the text lists.
const mostSegments = 40

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: vehicle %s, %s in %s, %.6g s at %.5g Hz, %s\n", r.Log, r.Vehicle,
		number(r.Samples, "sample"), number(len(r.Segments), "segment"), r.Duration, r.Rate, number(int(r.Bytes), "byte"))
	if r.Source != "" {
		fmt.Fprintf(&b, "made by %s\n", plain(r.Source))
	}
	if r.Kinematics != "" {
		fmt.Fprintf(&b, "kinematics %s\n", plain(r.Kinematics))
	}
	b.WriteString("\n")
	r.writeChannels(&b)
	b.WriteString("\n")
	r.writeSegments(&b)
	if len(r.Notes) > 0 {
		b.WriteString("\n")
	}
	reported := 0
	for _, n := range r.Notes {
		if strings.HasPrefix(n.Text, flightlog.ImportNote) || strings.HasPrefix(n.Text, flightlog.InvalidNote) {
			reported++
			continue
		}
		fmt.Fprintf(&b, "note at %s: %s\n", at(n.T), plain(n.Text))
	}
	if reported > 0 {
		fmt.Fprintf(&b, "notes of the import: %d, which --json lists\n", reported)
	}
	if len(r.Damage)+len(r.Invalid)+r.Unknown > 0 {
		b.WriteString("\n")
	}
	for _, d := range r.Damage {
		more := "the log continues after it"
		if d.Tail {
			more = "nothing follows"
		}
		fmt.Fprintf(&b, "DAMAGE from byte %d to %d, after %s: %s; %s\n", d.Offset, d.End, number(d.Record, "whole record"), d.Reason, more)
	}
	for _, text := range r.Invalid {
		fmt.Fprintf(&b, "INVALID %s\n", text)
	}
	if r.Unknown > 0 {
		fmt.Fprintf(&b, "%s of an unknown kind, skipped\n", number(r.Unknown, "record"))
	}
	if !r.Counted {
		b.WriteString("\nthe log has no count of its records: it is not known whether some are missing at its end\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeChannels(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "channel\tunit\trole\tmin\tmean\tmax\tmissing\tHz\tmore")
	for _, c := range r.Channels {
		var more []string
		add := func(there bool, format string, args ...any) {
			if there {
				more = append(more, fmt.Sprintf(format, args...))
			}
		}
		add(c.Derivative != "", "derivative %s", c.Derivative)
		add(c.Period != 0, "period %.6g", c.Period)
		add(c.Invariant, "invariant")
		add(c.Noise != 0, "noise %.4g", c.Noise)
		add(c.Frame != "", "frame %s", c.Frame)
		add(c.Constant, "CONSTANT")
		add(c.Infinite > 0, "INFINITE in %s", number(c.Infinite, "sample"))
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%.4g\t%s\n", c.Name, dash(channel.CanonicalUnit(c.Unit)), c.Role,
			value(c.Min), value(c.Mean), value(c.Max), c.Missing, c.Rate, dash(strings.Join(more, ", ")))
	}
	t.Flush()
}

func (r *Report) writeSegments(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "number\tsegment\tstart\tduration s\tsamples\trate Hz\tgaps\tlongest s\tmore")
	for i, s := range r.Segments {
		if i == mostSegments {
			break
		}
		var more []string
		add := func(n int, what string) {
			if n > 0 {
				more = append(more, number(n, what))
			}
		}
		add(s.Duplicates, "repeated time")
		add(s.Backwards, "time backwards")
		add(s.Plans, "plan")
		if s.Exact {
			more = append(more, "exact start")
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%.6g\t%d\t%.5g\t%d\t%.4g\t%s\n", i+1, dash(plain(s.Name)), at(s.Start), s.Duration, s.Samples, s.Rate,
			s.Gaps, s.LongestGap, dash(strings.Join(more, ", ")))
	}
	t.Flush()
	if n := len(r.Segments) - mostSegments; n > 0 {
		fmt.Fprintf(b, "and %s\n", number(n, "more segment"))
	}
}

// at formats a time, ns: as a date from 2000 on, else in seconds.
func at(ns int64) string {
	if t := time.Unix(0, ns).UTC(); t.Year() >= 2000 {
		return t.Format("2006-01-02T15:04:05.000Z")
	}
	return fmt.Sprintf("%.6g s", 1e-9*float64(ns))
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if what == "time backwards" {
		return fmt.Sprintf("%d times backwards", n)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// plain escapes what must not reach a terminal: the text comes from the log.
func plain(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) < 0 {
		return s
	}
	return strconv.QuoteToGraphic(s)
}

func value(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.4g", *v)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
