package cdr_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/bridge/cdr"
	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
)

const msgText = `# a comment
int32 ANSWER=42
string GREETING = "a # b"
Inner[2] pair   # two of them
string<=5 name "none"
Inner[] list
other_pkg/Empty nothing
float64[3] three [1.0, 2.0, 3.0]
bool flag true
uint8[<=4] bytes
builtin_interfaces/Time stamp
================================================================================
MSG: pkg/Inner
int8 small
float32 single
================================================================================
MSG: other_pkg/Empty
string ONLY_A_CONSTANT="x"
`

const idlText = `================================================================================
IDL: pkg/msg/Outer
// generated
#include "pkg/msg/Inner.idl"
module pkg {
  module msg {
    typedef pkg::msg::Inner pkg__msg__Inner__2[2];
    typedef double double__3[3];
    module Outer_Constants {
      const long ANSWER = 42;
      @verbatim (language="comment", text="a ) in" " a text")
      const string GREETING = "a ; b";
    };
    @verbatim (language="comment", text=
      "nested (parentheses)")
    struct Outer {
      pkg__msg__Inner__2 pair;
      @default (value="none")
      string<5> name;
      sequence<pkg::msg::Inner> list;
      other_pkg::msg::Empty nothing;
      @unit (value="m") double__3 three;
      boolean flag;
      sequence<uint8, 4> bytes;
      builtin_interfaces::msg::Time stamp;
    };
  };
};
================================================================================
IDL: pkg/msg/Inner
module pkg { module msg { struct Inner { int8 small; float single; }; }; };
================================================================================
IDL: other_pkg/msg/Empty
module other_pkg { module msg { struct Empty { uint8 structure_needs_at_least_one_member; }; }; };
================================================================================
IDL: builtin_interfaces/msg/Time
module builtin_interfaces { module msg { struct Time { int32 sec; uint32 nanosec; }; }; };
`

// outer writes the message that both schemas describe, with n in its list.
func outer(w *cdrtest.Writer, n int) []byte {
	w.U8(0xFF).F32(1.5).U8(2).F32(-2.5)
	w.Text("abc")
	w.Seq(n)
	for i := range n {
		w.U8(uint8(i)).F32(float32(10 * i))
	}
	w.U8(0)
	w.F64(7, 8, 9)
	w.U8(1)
	w.Seq(2).U8(200, 201)
	w.U32(5, 6)
	return w.B
}

var paths = []string{"three[2]", "pair[0].small", "pair[1].single", "list[1].single", "list[3].small", "flag", "bytes[1]", "stamp.nanosec", "three[0]", "stamp.sec", "three[2]"}

func TestBothLanguagesAndAllEncodings(t *testing.T) {
	for encoding, text := range map[string]string{"ros2msg": msgText, "ros2idl": idlText} {
		typ, err := cdr.Parse(encoding, "pkg/msg/Outer", []byte(text))
		if err != nil {
			t.Fatal(encoding, err)
		}
		r, err := cdr.NewReader(typ, paths)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, len(paths))
		for _, version := range []int{1, 2} {
			for _, big := range []bool{false, true} {
				for _, n := range []int{0, 2, 4} {
					if err := r.Read(got, outer(cdrtest.NewAs(version, big), n)); err != nil {
						t.Fatal(err)
					}
					want := []float64{9, -1, -2.5, math.NaN(), math.NaN(), 1, 201, 6, 7, 5, 9}
					if n >= 2 {
						want[3] = 10
					}
					if n >= 4 {
						want[4] = 3
					}
					if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" {
						t.Errorf("%s, version %d, big-endian %v, %d: %s", encoding, version, big, n, d)
					}
				}
			}
		}
	}
}

// Everything that is in a message, by path, in its order.
func TestVisit(t *testing.T) {
	typ, err := cdr.Parse("ros2msg", "pkg/Outer", []byte(msgText))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	err = typ.Visit(outer(cdrtest.New(), 1), func(path string, v float64) bool {
		all = append(all, fmt.Sprint(path, "=", v))
		return true
	}, func(path, s string) bool {
		all = append(all, path+"="+s)
		return true
	})
	want := "pair[0].small=-1 pair[0].single=1.5 pair[1].small=2 pair[1].single=-2.5 name=abc list[0].small=0 list[0].single=0 " +
		"nothing.structure_needs_at_least_one_member=0 three[0]=7 three[1]=8 three[2]=9 flag=1 bytes[0]=200 bytes[1]=201 stamp.sec=5 stamp.nanosec=6"
	if err != nil || strings.Join(all, " ") != want {
		t.Errorf("%v\n%s\n%s", err, strings.Join(all, " "), want)
	}
}

// A message cut off anywhere is an error, or none where all that is wanted is
// before the cut; what was read before is kept.
func TestCutOff(t *testing.T) {
	typ, err := cdr.Parse("ros2msg", "pkg/Outer", []byte(msgText))
	if err != nil {
		t.Fatal(err)
	}
	whole := outer(cdrtest.New(), 3)
	r, err := cdr.NewReader(typ, []string{"pair[0].small", "stamp.nanosec"})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, 2)
	for cut := range whole {
		if err := r.Read(got, whole[:cut]); err == nil || !math.IsNaN(got[1]) || cut > 12 && got[0] != -1 {
			t.Errorf("cut at %d: %v, %v", cut, got, err)
		}
	}
	if err := r.Read(got, whole); err != nil || got[1] != 6 {
		t.Error(got, err)
	}
}

func TestPathsAreChecked(t *testing.T) {
	typ, err := cdr.Parse("ros2msg", "pkg/Outer", []byte(msgText))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"nix": `there is no "nix" in pkg/Outer`, "pair": "pair is an array of 2: write pair[0]", "pair[2].small": "pair has 2 elements, [0] to [1]",
		"flag[0]": "flag is not an array", "pair[0]": "pair is not a number but a pkg/Inner: name a field of it", "name": "name is text",
		"flag.x": "flag has no fields", "three[x]": `three has 3 elements, [0] to [2]`, "": `there is no "" in`, "list[99999999].small": "is not a name with an index",
	} {
		if err := typ.Check(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if err := typ.Check("list[5000].small"); err != nil {
		t.Error(err)
	}
}

func TestBadSchemas(t *testing.T) {
	for _, c := range []struct{ encoding, text, want string }{
		{"protobuf", "", `schemas of "protobuf" are not read`},
		{"ros2msg", "nix", "is not a type and a name"},
		{"ros2msg", "Nix x", "type pkg/Nix is not defined"},
		{"ros2msg", "int8[0] x", "is not an array of 1 to"},
		{"ros2msg", "int8[99999999999] x", "is not an array of 1 to"},
		{"ros2msg", "int8[3 x", "is not a type"},
		{"ros2msg", "A x\n===\nMSG: pkg/A\nOuter y", "contains itself"},
		{"ros2msg", "===\nint8 x", "is not followed by MSG:"},
		{"ros2idl", "module pkg { struct Outer { long double x; }; };", "long double is not read"},
		{"ros2idl", "module pkg { struct Outer { sequence<sequence<long>> x; }; };", "which ROS 2 does not have"},
		{"ros2idl", "module pkg { struct Outer { long x", `is where ";" must be`},
		{"ros2idl", "module pkg { union X", `"union" is not read`},
		{"ros2idl", "/* open", "a comment is not closed"},
		{"ros2idl", `@verbatim("open`, "a text is not closed"},
		{"ros2idl", "@a(", "an annotation is not closed"},
		{"ros2idl", strings.Repeat("module a {", 100), "nested too deep"},
		{"ros2idl", "module pkg { struct Outer { Nix x; }; };", "type pkg/Nix is not defined"},
		{"ros2idl", "", "type pkg/Outer is not defined"},
	} {
		_, err := cdr.Parse(c.encoding, "pkg/Outer", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %s", c.encoding, c.text, err, c.want)
		}
	}
}

func TestWStringEndsReading(t *testing.T) {
	typ, err := cdr.Parse("ros2msg", "pkg/W", []byte("int32 before\nwstring w\nint32 behind\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := cdr.NewReader(typ, []string{"before", "behind"})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, 2)
	if err := r.Read(got, cdrtest.New().U32(7, 1, 65, 9).B); err == nil || got[0] != 7 || !math.IsNaN(got[1]) {
		t.Error(got, err)
	}
}

// Whatever schema and message are, reading ends; what both ways of reading find
// is the same.
func FuzzRead(f *testing.F) {
	f.Add(false, msgText, outer(cdrtest.New(), 2))
	f.Add(true, idlText, outer(cdrtest.NewAs(2, true), 1))
	f.Add(false, "A[4] a\n===\nMSG: pkg/A\nB[] b\n===\nMSG: pkg/B\nuint8[] c", cdrtest.New().Seq(1).Seq(2).U8(1, 2).B)
	f.Fuzz(func(t *testing.T, isIDL bool, text string, msg []byte) {
		encoding := "ros2msg"
		if isIDL {
			encoding = "ros2idl"
		}
		typ, err := cdr.Parse(encoding, "pkg/Outer", []byte(text))
		if err != nil {
			return
		}
		var paths []string
		var want []float64
		_ = typ.Visit(msg, func(path string, v float64) bool {
			paths = append(paths, path)
			want = append(want, v)
			return len(paths) < 200
		}, func(string, string) bool { return true })
		for _, p := range paths {
			if typ.Check(p) != nil {
				return // two fields of one name, or a name that is no path
			}
		}
		seen := map[string]bool{}
		for _, p := range paths {
			if seen[p] {
				return
			}
			seen[p] = true
		}
		r, err := cdr.NewReader(typ, paths)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, len(paths))
		if err := r.Read(got, msg); err == nil {
			if d := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" {
				t.Fatal(d)
			}
		}
	})
}
