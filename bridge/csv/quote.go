package csv

import "fmt"

// quote shows a cell in a message, shortened.
func quote(cell string) string {
	const most = 40
	if len(cell) > most {
		return fmt.Sprintf("%q…", cell[:most])
	}
	return fmt.Sprintf("%q", cell)
}
