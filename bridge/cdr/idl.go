package cdr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// idlKinds are the types of .idl files, as ROS 2 uses them
// (https://design.ros2.org/articles/idl_interface_definition.html).
var idlKinds = map[string]Kind{
	"boolean": Bool, "octet": U8, "char": U8, "int8": I8, "uint8": U8, "int16": I16, "uint16": U16, "int32": I32, "uint32": U32,
	"int64": I64, "uint64": U64, "float": F32, "double": F64, "string": String, "wstring": WString,
	"short": I16, "unsigned short": U16, "long": I32, "unsigned long": U32, "long long": I64, "unsigned long long": U64,
}

// idl parses .idl files, one after the other, each after a line of equal signs
// and one "IDL: package/msg/Name".
type idl struct {
	words    []string
	at       int
	modules  []string
	typedefs map[string]Field // by their full names: what they stand for
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
	p := &idl{words: words, typedefs: map[string]Field{}, types: newTypes()}
	for p.at < len(p.words) {
		if err := p.definition(0); err != nil {
			return nil, fmt.Errorf("at %q: %w", clip(strings.Join(p.words[max(0, p.at-3):min(len(p.words), p.at+2)], " ")), err)
		}
	}
	return p.types.root(name)
}

// idlWords splits IDL into names, numbers, texts and single signs, without
// comments.
func idlWords(text string) (out []string, err error) {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case unicode.IsSpace(rune(c)):
			i++
		case strings.HasPrefix(text[i:], "//"):
			if k := strings.IndexByte(text[i:], '\n'); k >= 0 {
				i += k
			} else {
				i = len(text)
			}
		case strings.HasPrefix(text[i:], "/*"):
			k := strings.Index(text[i+2:], "*/")
			if k < 0 {
				return nil, errors.New("a comment is not closed")
			}
			i += k + 4
		case c == '"' || c == '\'':
			k := i + 1
			for k < len(text) && text[k] != c {
				if text[k] == '\\' {
					k++
				}
				k++
			}
			if k >= len(text) {
				return nil, errors.New("a text is not closed")
			}
			out = append(out, text[i:k+1])
			i = k + 1
		case strings.HasPrefix(text[i:], "::"):
			out = append(out, "::")
			i += 2
		case isWord(c):
			k := i
			for k < len(text) && (isWord(text[k]) || text[k] == '.') {
				k++
			}
			out = append(out, text[i:k])
			i = k
		default:
			out = append(out, text[i:i+1])
			i++
		}
	}
	return out, nil
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// next takes a word, "" at the end.
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

// expect takes a word that must be there.
func (p *idl) expect(word string) error {
	if got := p.next(); got != word {
		return fmt.Errorf("%q stands where %q must", got, word)
	}
	return nil
}

// annotations passes "@name(…)", also several.
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
		return errors.New("modules stand within modules without end")
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
		p.typedefs[p.full(f.Name)] = f
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
		if len(t.Fields) >= maxFields {
			return fmt.Errorf("%s: more than %d fields", t.Name, maxFields)
		}
		t.Fields = append(t.Fields, f)
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

// declaration reads "type name" or "type name[3]", with typedefs put in.
func (p *idl) declaration() (f Field, err error) {
	if f, err = p.typeSpec(); err != nil {
		return f, err
	}
	if f.Name = p.next(); f.Name == "" || !isWord(f.Name[0]) {
		return f, fmt.Errorf("%q is not a name", f.Name)
	}
	if p.peek() != "[" {
		return f, nil
	}
	p.at++
	n, err := strconv.Atoi(p.next())
	switch {
	case err != nil || n < 1 || n > maxCount:
		return f, fmt.Errorf("%s is not an array of 1 to %d", f.Name, maxCount)
	case f.Count > 0 || f.Sequence:
		return f, fmt.Errorf("%s is an array of arrays, which ROS 2 does not have", f.Name)
	}
	f.Count = n
	return f, p.expect("]")
}

// typeSpec reads a type: of numbers, text, sequence<…>, or a name.
func (p *idl) typeSpec() (f Field, err error) {
	word := p.next()
	switch word {
	case "sequence":
		if err := p.expect("<"); err != nil {
			return f, err
		}
		if f, err = p.typeSpec(); err != nil {
			return f, err
		}
		if f.Count > 0 || f.Sequence {
			return f, errors.New("a sequence of arrays, which ROS 2 does not have")
		}
		f.Sequence = true
		if p.peek() == "," {
			p.at += 2
		}
		return f, p.expect(">")
	case "unsigned":
		word += " " + p.next()
	}
	if (word == "long" || word == "unsigned long") && p.peek() == "long" {
		p.at++
		word += " long"
	}
	if word == "long" && p.peek() == "double" {
		return f, errors.New("long double is not read")
	}
	if k := idlKinds[word]; k != 0 {
		if (k == String || k == WString) && p.peek() == "<" {
			p.at += 2
			if err := p.expect(">"); err != nil {
				return f, err
			}
		}
		return Field{Kind: k}, nil
	}
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
	return Field{Kind: Nested, typeName: word}, nil
}
