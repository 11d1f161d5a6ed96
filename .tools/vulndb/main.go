// Command vulndb lays the reports of the module golang.org/x/vulndb out as the database that govulncheck reads from a
// folder (https://go.dev/doc/security/vuln/database), so that it works wherever the module proxy can be reached:
//
//	vulndb REPORTS FOLDER
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// report is what the indices need of one report.
type report struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Aliases  []string  `json:"aliases"`
	Affected []struct {
		Package struct {
			Name string `json:"name"` // of a module
		} `json:"package"`
		Ranges []struct {
			Events []struct {
				Fixed string `json:"fixed"`
			} `json:"events"`
		} `json:"ranges"`
	} `json:"affected"`
}

// fixed returns the newest version that mends the report in a module; "" = none does.
func (r *report) fixed(module string) (newest string) {
	for _, a := range r.Affected {
		if a.Package.Name != module {
			continue
		}
		for _, span := range a.Ranges {
			for _, e := range span.Events {
				if e.Fixed != "" {
					newest = e.Fixed
				}
			}
		}
	}
	return newest
}

// Rows of the indices.
type (
	module struct {
		Path  string `json:"path"`
		Vulns []vuln `json:"vulns"`
	}
	vuln struct {
		ID       string    `json:"id"`
		Modified time.Time `json:"modified"`
		Fixed    string    `json:"fixed,omitempty"`
		Aliases  []string  `json:"aliases,omitempty"`
	}
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: vulndb REPORTS FOLDER")
		os.Exit(2)
	}
	if err := layOut(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "vulndb:", err)
		os.Exit(1)
	}
}

func layOut(from, to string) error {
	paths, err := filepath.Glob(filepath.Join(from, "*.json"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s holds no reports", from)
	}
	var modified time.Time
	var all []vuln
	byModule := map[string][]vuln{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var r report
		if err := json.Unmarshal(data, &r); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := write(filepath.Join(to, "ID", r.ID+".json"), data); err != nil {
			return err
		}
		if r.Modified.After(modified) {
			modified = r.Modified
		}
		all = append(all, vuln{ID: r.ID, Modified: r.Modified, Aliases: r.Aliases})
		seen := map[string]bool{}
		for _, a := range r.Affected {
			if name := a.Package.Name; !seen[name] {
				seen[name] = true
				byModule[name] = append(byModule[name], vuln{ID: r.ID, Modified: r.Modified, Fixed: r.fixed(name)})
			}
		}
	}
	var modules []module
	for name, vulns := range byModule {
		modules = append(modules, module{name, vulns})
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	for name, v := range map[string]any{"db": map[string]time.Time{"modified": modified}, "modules": modules, "vulns": all} {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(to, "index", name+".json"), data); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o666)
}
