package architecture

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// own reports whether an import, as a source holds it, is of this module.
func own(imported string) bool {
	return underAny(imported, []string{"estimator", "trainer", "bridge", "firmware-sim", "cmd"})
}

// standard reports whether an import is of the standard library (or "C"): the first
// element of every other path is a host, with a dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !own(imported) && !strings.Contains(first, ".")
}

// breaks lists every rule that the files break, one line each.
func breaks(files []*source) []string {
	var all []string
	for _, s := range files {
		for _, imported := range s.imports {
			all = append(all, fenced(s, imported)...)
			all = append(all, ordered(s, imported)...)
			all = append(all, invited(s, imported)...)
			all = append(all, shunned(s, imported)...)
			all = append(all, worldly(s, imported)...)
		}
		all = append(all, form(s)...)
	}
	return append(all, undocumented(files)...)
}

// fenced holds the fences, and keeps product code from packages for tests.
func fenced(s *source, imported string) (all []string) {
	for _, f := range fences {
		if under(s.path, f.from) && underAny(imported, f.not) {
			all = append(all, fmt.Sprintf("%s imports %s: nothing in %s may, because %s", s.path, imported, f.from, f.why))
		}
	}
	for _, f := range testOnly {
		if !s.test() && under(imported, f.from) && !under(s.path, f.from) {
			all = append(all, fmt.Sprintf("%s imports %s: only tests may, because %s", s.path, imported, f.why))
		}
	}
	return all
}

// ordered holds the order inside estimator.
func ordered(s *source, imported string) []string {
	if s.test() || !under(s.path, "estimator") || !under(imported, "estimator") {
		return nil
	}
	for _, l := range layers {
		if l.folder == s.folder() {
			if slices.Contains(l.imports, imported) {
				return nil
			}
			return []string{fmt.Sprintf("%s imports %s: %s may import %v only, because %s", s.path, imported, l.folder, l.imports, l.why)}
		}
	}
	return []string{fmt.Sprintf("%s imports %s: %s is missing in the table of layers; add what it may import and why", s.path, imported, s.folder())}
}

// invited holds the places of foreign modules.
func invited(s *source, imported string) []string {
	if own(imported) || standard(imported) {
		return nil
	}
	var found *guest
	for i := range guests {
		if g := &guests[i]; under(imported, g.path) && (found == nil || len(g.path) > len(found.path)) {
			found = g
		}
	}
	switch {
	case found == nil:
		return []string{fmt.Sprintf("%s imports %s: the module has no place in the table of guests yet; say there where it belongs and why", s.path, imported)}
	case s.test() || underAny(s.path, found.in):
		return nil
	case len(found.in) == 0:
		return []string{fmt.Sprintf("%s imports %s: only tests may, because %s", s.path, imported, found.why)}
	}
	return []string{fmt.Sprintf("%s imports %s: only %v may, because %s", s.path, imported, found.in, found.why)}
}

// shunned keeps packages of the standard library in their places.
func shunned(s *source, imported string) (all []string) {
	for _, a := range avoided {
		if imported == a.path && !underAny(s.path, a.in) && !(s.test() && len(a.in) > 0) {
			all = append(all, fmt.Sprintf("%s imports %s: only %v may, because %s", s.path, imported, a.in, a.why))
		}
	}
	return all
}

// permitted returns the permit by which the file may import a part of the world.
func permitted(s *source, imported string) (*permit, bool) {
	for i := range permits {
		p := &permits[i]
		if (p.where == s.path || p.where == s.folder()) && underAny(imported, p.world) {
			return p, true
		}
	}
	return nil, false
}

// needsPermit reports whether the import is a part of the world which the file may not
// touch without a permit.
func needsPermit(s *source, imported string) bool {
	return !s.test() && underAny(s.path, pure) && underAny(imported, world)
}

// worldly keeps the world out of the pure folders, and C out of all.
func worldly(s *source, imported string) []string {
	if imported == "C" && s.path != callableFromC {
		return []string{s.path + ": imports C: every command is one static binary for any board, cross-built without a C compiler"}
	}
	if !needsPermit(s, imported) {
		return nil
	}
	if _, ok := permitted(s, imported); ok {
		return nil
	}
	return []string{fmt.Sprintf("%s imports %s: the onboard runtime has no I/O, clock, goroutine, log or chance, so that the same arguments always give the same answer in bounded time; a table of permits holds the exceptions", s.path, imported)}
}

// form holds what one file must look like.
func form(s *source) (all []string) {
	name := strings.TrimSuffix(s.pkg, "_test")
	for _, n := range []string{name, path.Base(s.folder())} {
		if slices.Contains(namesNothing, n) {
			all = append(all, fmt.Sprintf("%s is of a package named %s: a name without a meaning attracts everything", s.path, n))
			break
		}
	}
	if s.init && !s.test() {
		all = append(all, s.path+" has a func init: what happens before main can be neither ordered, tested nor left out")
	}
	if s.lines > maxLines {
		all = append(all, fmt.Sprintf("%s has %d lines: more than %d are not one thing", s.path, s.lines, maxLines))
	}
	return all
}

// undocumented finds packages that do not say what they own.
func undocumented(files []*source) (all []string) {
	documented := map[string]bool{}
	for _, s := range files {
		if !s.test() {
			documented[s.folder()] = documented[s.folder()] || s.doc
		}
	}
	for folder, ok := range documented {
		if !ok {
			all = append(all, folder+" has no package comment: every package says what it owns")
		}
	}
	slices.Sort(all)
	return all
}

// idle lists the permits that nothing uses.
func idle(files []*source) (all []string) {
	used := map[string]bool{}
	for _, s := range files {
		for _, imported := range s.imports {
			if !needsPermit(s, imported) {
				continue
			}
			for _, p := range permits {
				for _, w := range p.world {
					if (p.where == s.path || p.where == s.folder()) && under(imported, w) {
						used[p.where+" "+w] = true
					}
				}
			}
		}
	}
	for _, p := range permits {
		for _, w := range p.world {
			if !used[p.where+" "+w] {
				all = append(all, fmt.Sprintf("%s no longer imports %s: take the permit away", p.where, w))
			}
		}
	}
	return all
}

// misplaced lists what does not belong at the top of the repository.
func misplaced(names []string) (all []string) {
	for _, n := range names {
		ignored := slices.ContainsFunc(byproducts, func(pattern string) bool {
			ok, err := path.Match(pattern, n)
			return ok && err == nil
		})
		if !strings.HasPrefix(n, ".") && !ignored && !slices.Contains(topLevel, n) {
			all = append(all, fmt.Sprintf("%s is at the top of the repository: only %v belong there, so that a visitor sees the product at once", n, topLevel))
		}
	}
	return all
}
