package cdr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// idlNumbers are the numbers of .idl files, as ROS 2 uses them
// (https://design.ros2.org/articles/idl_interface_definition.html).
var idlNumbers = map[string]number.Kind{
	"boolean": number.U8, "octet": number.U8, "char": number.U8, "int8": number.I8, "uint8": number.U8, "int16": number.I16, "uint16": number.U16,
	"int32": number.I32, "uint32": number.U32, "int64": number.I64, "uint64": number.U64, "float": number.F32, "double": number.F64,
	"short": number.I16, "unsigned short": number.U16, "long": number.I32, "unsigned long": number.U32, "long long": number.I64, "unsigned long long": number.U64,
}

// idl parses .idl files, one after the other, each after a line of equal signs
// and one "IDL: package/msg/Name".
type idl struct {
	words    []string
	at       int
	modules  []string
	typedefs map[string]field // by their full names
	types    *types
}

func parseIDL(name, text string) (*Type, error) {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		l := strings.TrimSpace(line)
		if strings.HasPrefix(l, "===") && strings.Trim(l, "=") == "" || strings.HasPrefix(l, "IDL:") || strings.HasPrefix(l, "#") {
			continue
		}
		kept = append(kept, line)
	}
	words, err := idlWords(strings.Join(kept, "\n"))
	if err != nil {
		return nil, err
	}
	p := &idl{words: words, typedefs: map[string]field{}, types: newTypes()}
	for p.at < len(p.words) {
		if err := p.definition(0); err != nil {
			return nil, fmt.Errorf("at %q: %w", telemetry.Clip(strings.Join(p.words[max(0, p.at-3):min(len(p.words), p.at+2)], " ")), err)
		}
	}
	return p.types.root(name)
}

// idlWords splits IDL into names, numbers, texts and single signs, without
// comments.
func idlWords(text string) (out []string, err error) {
	for len(text) > 0 {
		n, keep, err := idlWord(text)
		if err != nil {
			return nil, err
		}
		if keep {
			out = append(out, text[:n])
		}
		text = text[n:]
	}
	return out, nil
}

// idlWord returns the length of the word, the space or the comment that a text begins
// with, and whether it is a word.
func idlWord(text string) (n int, keep bool, err error) {
	c := text[0]
	switch {
	case unicode.IsSpace(rune(c)):
		return 1, false, nil
	case strings.HasPrefix(text, "//"):
		if n = strings.IndexByte(text, '\n'); n < 0 {
			n = len(text)
		}
		return n, false, nil
	case strings.HasPrefix(text, "/*"):
		if n = strings.Index(text[2:], "*/"); n < 0 {
			return 0, false, errors.New("a comment is not closed")
		}
		return n + 4, false, nil
	case c == '"' || c == '\'':
		n, err = quoted(text)
		return n, true, err
	case strings.HasPrefix(text, "::"):
		return 2, true, nil
	}
	if !isWord(c) {
		return 1, true, nil
	}
	for n < len(text) && (isWord(text[n]) || text[n] == '.') {
		n++
	}
	return n, true, nil
}

// quoted returns the length of the text in quotes that a text begins with.
func quoted(text string) (int, error) {
	for n := 1; n < len(text); n++ {
		switch text[n] {
		case text[0]:
			return n + 1, nil
		case '\\':
			n++
		}
	}
	return 0, errors.New("a text is not closed")
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (p *idl) next() string {
	if p.at >= len(p.words) {
		return ""
	}
	p.at++
	return p.words[p.at-1]
}

func (p *idl) peek() string {
	if p.at >= len(p.words) {
		return ""
	}
	return p.words[p.at]
}

// expect reads a word that must be there.
func (p *idl) expect(word string) error {
	if got := p.next(); got != word {
		return fmt.Errorf("%q is where %q must be", got, word)
	}
	return nil
}

// annotations skips "@name(…)", also several.
func (p *idl) annotations() error {
	for p.peek() == "@" {
		p.at++
		p.next()
		for p.peek() == "::" {
			p.at += 2
		}
		if p.peek() != "(" {
			continue
		}
		for depth := 0; ; {
			switch p.next() {
			case "":
				return errors.New("an annotation is not closed")
			case "(":
				depth++
			case ")":
				depth--
			}
			if depth == 0 {
				break
			}
		}
	}
	return nil
}

// definition reads a module, struct, typedef or constant.
func (p *idl) definition(depth int) error {
	if depth > maxDepth {
		return errors.New("modules are nested too deep")
	}
	if err := p.annotations(); err != nil {
		return err
	}
	switch word := p.next(); word {
	case ";":
		return nil
	case "module":
		p.modules = append(p.modules, p.next())
		if err := p.expect("{"); err != nil {
			return err
		}
		for p.peek() != "}" {
			if p.peek() == "" {
				return errors.New("a module is not closed")
			}
			if err := p.definition(depth + 1); err != nil {
				return err
			}
		}
		p.at++
		p.modules = p.modules[:len(p.modules)-1]
		if p.peek() == ";" {
			p.at++
		}
		return nil
	case "struct":
		return p.structure()
	case "typedef":
		f, err := p.declaration()
		if err != nil {
			return err
		}
		p.typedefs[p.full(f.name)] = f
		return p.expect(";")
	case "const":
		for p.peek() != ";" && p.peek() != "" {
			p.at++
		}
		return p.expect(";")
	default:
		return fmt.Errorf("%q is not read: only module, struct, typedef and const are", word)
	}
}

// full names something in the modules that are open, as ROS writes names: package
// first.
func (p *idl) full(name string) string {
	return strings.Join(append(p.modules[:len(p.modules):len(p.modules)], name), "/")
}

func (p *idl) structure() error {
	t := &Type{Name: p.full(p.next())}
	if err := p.expect("{"); err != nil {
		return err
	}
	for {
		if err := p.annotations(); err != nil {
			return err
		}
		if p.peek() == "}" {
			break
		}
		f, err := p.declaration()
		if err != nil {
			return err
		}
		if len(t.fields) >= maxFields {
			return fmt.Errorf("%s: more than %d fields", t.Name, maxFields)
		}
		t.fields = append(t.fields, f)
		if err := p.expect(";"); err != nil {
			return err
		}
	}
	p.at++
	if p.peek() == ";" {
		p.at++
	}
	return p.types.add(t)
}

// declaration reads "type name" or "type name[3]", with typedefs resolved.
func (p *idl) declaration() (f field, err error) {
	if f, err = p.typeSpec(); err != nil {
		return f, err
	}
	if f.name = p.next(); f.name == "" || !isWord(f.name[0]) {
		return f, fmt.Errorf("%q is not a name", f.name)
	}
	if p.peek() != "[" {
		return f, nil
	}
	p.at++
	n, err := strconv.Atoi(p.next())
	switch {
	case err != nil || n < 1 || n > maxCount:
		return f, fmt.Errorf("%s is not an array of 1 to %d", f.name, maxCount)
	case f.array():
		return f, fmt.Errorf("%s is an array of arrays, which ROS 2 does not have", f.name)
	}
	f.count = n
	return f, p.expect("]")
}

// typeSpec reads a type: of numbers, text, sequence<…>, or a name.
func (p *idl) typeSpec() (f field, err error) {
	word := p.next()
	if word == "sequence" {
		return p.sequenceSpec()
	}
	if word == "unsigned" {
		word += " " + p.next()
	}
	if (word == "long" || word == "unsigned long") && p.peek() == "long" {
		p.at++
		word += " long"
	}
	if word == "long" && p.peek() == "double" {
		return f, errors.New("long double is not read")
	}
	if f, ok := builtin(word, idlNumbers); ok {
		if f.content != numeric && p.peek() == "<" { // the bound of a text
			p.at += 2
			err = p.expect(">")
		}
		return f, err
	}
	return p.named(word)
}

// sequenceSpec reads the rest of sequence<type> or sequence<type, bound>.
func (p *idl) sequenceSpec() (f field, err error) {
	if err := p.expect("<"); err != nil {
		return f, err
	}
	if f, err = p.typeSpec(); err != nil {
		return f, err
	}
	if f.array() {
		return f, errors.New("a sequence of arrays, which ROS 2 does not have")
	}
	f.sequence = true
	if p.peek() == "," {
		p.at += 2
	}
	return f, p.expect(">")
}

// named reads the rest of the name of a type, which begins with word.
func (p *idl) named(word string) (f field, err error) {
	if word == "::" {
		word = p.next()
	}
	if word == "" || !isWord(word[0]) {
		return f, fmt.Errorf("%q is not a type", word)
	}
	for p.peek() == "::" {
		p.at++
		word += "/" + p.next()
	}
	for _, name := range []string{word, p.full(word)} {
		if def, ok := p.typedefs[name]; ok {
			return def, nil
		}
	}
	if !strings.Contains(word, "/") {
		word = p.full(word)
	}
	return field{content: nested, typeName: word}, nil
}
