package reporting

// Shorten keeps a text within what a status may hold; a field's name comes from the
// sender and may be long.
func Shorten(text string) string {
	const most = 240
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
