package program

// Operands returns the registers that an operation reads.
func Operands(o Operation) []Reg { return o.operands() }

// Results returns the registers that an operation sets.
func Results(o Operation) []Reg { return o.results() }
