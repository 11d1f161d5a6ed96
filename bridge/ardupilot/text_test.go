package ardupilot_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/ardupilot"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// written is a log as text, in which the description of instances comes late.
func written() string {
	var b strings.Builder
	b.WriteString("FMT, 128, 89, FMT, BBnNZ, Type,Length,Name,Format,Columns\r\nFMT, 129, 44, FMTU, QBNN, TimeUS,FmtType,UnitIds,MultIds\r\n")
	b.WriteString("FMT, 140, 30, XKF1, QBccfn, TimeUS,C,Roll,Pitch,PN,Txt\r\nFMT, 141, 30, PARM, QNff, TimeUS,Name,Value,Default\r\nFMT, 142, 30, MSG, QZ, TimeUS,Message\r\n")
	b.WriteString("PARM, 100, SERVO9_FUNCTION, 33, 0\r\nMSG, 100, ArduCopter V4.5.1, official\r\n")
	for i := range 20 {
		for core := range 2 {
			fmt.Fprintf(&b, "XKF1, %d, %d, %.2f, -1.5, %g, x\r\n", 1000+10*i, core, float64(i), 0.5*float64(100*core+i))
		}
		if i == 9 {
			b.WriteString("FMTU, 1090, 140, s#ddm-, F-000-\r\nODD, 1\r\nXKF1, 1\r\n")
		}
	}
	return b.String()
}

func TestText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	if err := os.WriteFile(path, []byte(written()), 0o666); err != nil {
		t.Fatal(err)
	}
	settings, texts, counts := map[string]float64{}, "", map[string]int{}
	s, err := ardupilot.OpenAny(path, telemetry.Wants{
		Parameter: func(name string, v float64) { settings[name] = v },
		Text:      func(_ int64, text string) { texts += text },
		Select: func(topic *telemetry.Topic) []string {
			if topic.Name != "XKF1" {
				return nil
			}
			if f := topic.Fields(); len(f) != 5 || topic.Check("Txt") == nil {
				t.Errorf("%v", f)
			}
			return []string{"Roll", "PN"}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		m, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.Topic.Name == "XKF1" {
			i := counts[m.Topic.String()]
			counts[m.Topic.String()]++
			if m.Time != int64(1000+10*i)*1000 || m.Values[0] != float64(i) || m.Values[1] != 0.5*float64(100*m.Topic.Instance+i) {
				t.Errorf("%s: %+v", m.Topic, m)
			}
		}
	}
	if counts["XKF1"] != 20 || counts["XKF1#1"] != 20 || settings["SERVO9_FUNCTION"] != 33 || texts != "ArduCopter V4.5.1, official" || s.Problems().Count() != 2 {
		t.Error(counts, settings, texts, s.Problems().All())
	}
	if _, err := ardupilot.OpenText(path+"x", telemetry.Wants{}); err == nil {
		t.Error("a file that is not there")
	}
}

// No text makes the reader fail in another way than by an error.
func FuzzText(f *testing.F) {
	f.Add([]byte(written()))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := ardupilot.NewText("a.log", bytes.NewReader(data), telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
			for _, f := range t.Fields() {
				paths = append(paths, f.Path)
			}
			return paths
		}})
		for range len(data) + 1 {
			if _, err := r.Next(); err != nil {
				return
			}
		}
		t.Fatal("no end")
	})
}

// Numbers with decimal commas are read where a blank separates values; where none does, lines are left out and reported, and no value is
// that of another field.
func TestDecimalCommasInText(t *testing.T) {
	log := "FMT, 128, 89, FMT, BBnNZ, Type,Length,Name,Format,Columns\nFMT, 140, 30, IMU, Qfff, TimeUS,GyrX,GyrY,GyrZ\nFMT, 141, 30, PARM, QNff, TimeUS,Name,Value,Default\nFMT, 142, 30, MSG, QZ, TimeUS,Message\n" +
		"PARM, 100, MOT_SPIN_MIN, 0,15, 0,1\nMSG, 100, ArduCopter V4.5.1, official\nIMU, 1000, -0,5, 1,25, 2\nIMU, 2000, 0,5, 7, 3\n"
	for _, c := range []struct {
		text     string
		want     []float64
		setting  float64
		problems int
	}{{log, []float64{-0.5, 1.25, 2, 0.5, 7, 3}, 0.15, 0}, {strings.ReplaceAll(log, "\nIMU, 1000, -0,5, 1,25, 2", "\nIMU,1000,-0,5,1,25,2"), []float64{0.5, 7, 3}, 0.15, 1}} {
		settings, texts := map[string]float64{}, ""
		r := ardupilot.NewText("a.log", strings.NewReader(c.text), telemetry.Wants{
			Parameter: func(name string, v float64) { settings[name] = v },
			Text:      func(_ int64, text string) { texts += text },
			Select: func(topic *telemetry.Topic) []string {
				if topic.Name == "IMU" {
					return []string{"GyrX", "GyrY", "GyrZ"}
				}
				return nil
			},
		})
		var got []float64
		for m, err := r.Next(); err == nil; m, err = r.Next() {
			got = append(got, m.Values...)
		}
		if !slices.Equal(got, c.want) || settings["MOT_SPIN_MIN"] != c.setting || r.Problems().Count() != c.problems || texts != "ArduCopter V4.5.1, official" {
			t.Error(got, settings, texts, r.Problems().All())
		}
	}
}
