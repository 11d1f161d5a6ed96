package mat

import "cmp"

// others are what is no array of numbers, by its class, and what to save in place of it.
var others = map[uint32]string{
	mxCell:   "it is a cell array: save its parts as vectors, as in x = c{1}",
	mxSparse: "it is sparse: save full(x)",
	mxStruct: "it is an array of structures: save its fields as vectors, as in t = [s.t]",
}

func noNumbers(class uint32) string { return cmp.Or(others[class], "it is no array of numbers") }

// objects are what to save in place of objects, by their class.
var objects = map[string]string{
	"timeseries": ": save its vectors, as in t = x.Time; v = x.Data",
	"timetable":  ": save its columns as vectors, as in t = seconds(x.Time)",
	"table":      ": save its columns as vectors, as in t = x.t",
	"datetime":   ": save it as numbers, as by datenum",
	"duration":   ": save it as numbers, as by seconds",
}
