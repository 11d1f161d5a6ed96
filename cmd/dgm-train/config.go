package main

import (
	"regexp"
	"strings"

	"github.com/dgm-robotics/dgm/trainer"
)

// assignment is a line of a settings file: key, value, and the comment after it.
var assignment = regexp.MustCompile(`^\s*(\w+)( = )(.*?)(\s+#.*)?$`)

// commented returns the settings as the commented file, which is its own manual,
// with the values of cfg.
func commented(cfg trainer.Config) string {
	now, usual := values(cfg.TOML()), values(trainer.Default().TOML())
	table := ""
	lines := strings.Split(trainer.Template, "\n")
	for i, line := range lines {
		table = tableOf(line, table)
		m := assignment.FindStringSubmatch(line)
		if m == nil || now[table+m[1]] == usual[table+m[1]] {
			continue
		}
		value := now[table+m[1]]
		if comment := strings.TrimSpace(m[4]); comment != "" {
			width := max(len(m[3])+len(m[4])-len(comment), len(value)+2)
			value += strings.Repeat(" ", width-len(value)) + comment
		}
		lines[i] = m[1] + m[2] + value
	}
	return strings.Join(lines, "\n")
}

// values returns the values of a settings file as they are written, by table and key.
func values(toml string) map[string]string {
	out := map[string]string{}
	table := ""
	for line := range strings.Lines(toml) {
		line = strings.TrimSpace(line)
		table = tableOf(line, table)
		if m := assignment.FindStringSubmatch(line); m != nil {
			out[table+m[1]] = m[3]
		}
	}
	return out
}

// tableOf returns the table that begins with a line, else the one before.
func tableOf(line, before string) string {
	if name, ok := strings.CutPrefix(line, "["); ok {
		return strings.TrimSuffix(strings.TrimSpace(name), "]") + "."
	}
	return before
}
