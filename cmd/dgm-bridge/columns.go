package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// tableReport is what topics --json writes of a table.
type tableReport struct {
	Rows    int            `json:"rows"` // that were looked at
	Columns []columnReport `json:"columns"`
	LeftOut []string       `json:"left_out,omitempty"` // what of the file is no column, with the reason
}

type columnReport struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`    // by the name
	Numbers int     `json:"numbers"` // cells that are one
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Time    bool    `json:"time"` // it looks like the time of the rows
}

// writeColumns lists the columns of a file that is no log of topics, if it is a table.
func writeColumns(cmd *cobra.Command, other *unknownFormat, asJSON bool) error {
	o, err := csv.Look(other.path, openRows)
	if err != nil {
		return fmt.Errorf("%w; it is no table either: %s", other, strings.TrimPrefix(err.Error(), other.path+": "))
	}
	r := tableReport{Rows: o.Rows, Columns: []columnReport{}, LeftOut: o.LeftOut}
	for i := range o.Columns {
		c := &o.Columns[i]
		one := columnReport{Name: c.Column, Unit: c.Unit, Numbers: c.Numbers, Time: i == o.Time}
		if c.Numbers > 0 {
			one.Low, one.High = c.Low, c.High
		}
		if one.Time {
			one.Unit = o.Unit
		}
		r.Columns = append(r.Columns, one)
	}
	w := cmd.OutOrStdout()
	if asJSON {
		return cli.WriteJSON(w, r)
	}
	_, err = fmt.Fprintf(w, "table, %s in the first %s; with --suggest a map of them\n%10s %12s %12s  column\n", cli.Count(len(r.Columns), "column"), cli.Count(r.Rows, "row"), "numbers", "low", "high")
	for _, c := range r.Columns {
		name := c.Name
		if c.Unit != "" {
			name += ", " + c.Unit
		}
		if c.Time {
			name += ": looks like the time"
		}
		fmt.Fprintf(w, "%10d %12.6g %12.6g  %s\n", c.Numbers, c.Low, c.High, name)
	}
	for _, what := range r.LeftOut {
		fmt.Fprintf(w, "%36s  no column is %s\n", "", what)
	}
	return err
}
