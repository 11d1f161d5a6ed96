package csv_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
)

// A column called like omega [rad/s] is suggested with its name and its unit, and what
// is suggested is a map.
func TestSuggestedUnits(t *testing.T) {
	table := "t [ms],theta [rad],omega[rad/s],q[0],u [N],u [V],plain,run\n"
	for i := range 60 {
		table += fmt.Sprintf("%d,%g,%d,%d,%d,%d,%d,%d\n", 5*i, math.Remainder(float64(i)/10, 2*math.Pi), i%7, i%3, i%4, i%5, i%2, i/30)
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := importer.Suggest(context.Background(), &b, path, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"column = \"t [ms]\"\nunit = \"ms\" # s, ms, us or ns: from the name of the column\n",
		"name = \"theta\"\ncolumn = \"theta [rad]\"\nunit = \"rad\"\nrole = \"state\"\nperiod = 6.283185307179586 # it looks like an angle\n",
		"# [[channel]] # 0 to 1: perhaps segment_column of [time]\n# name = \"run\"\n",
		"name = \"omega\"\ncolumn = \"omega[rad/s]\"\nunit = \"rad/s\"\n",
		"name = \"q[0]\"\ncolumn = \"q[0]\"\nrole = ",
		"name = \"u [N]\"\ncolumn = \"u [N]\"\nunit = \"N\"\n", "name = \"u [V]\"\ncolumn = \"u [V]\"\nunit = \"V\"\n",
		"name = \"plain\"\ncolumn = \"plain\"\nrole = ",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if m, err := importer.ParseMap("map.toml", b.Bytes()); err != nil || len(m.Channels) != 6 {
		t.Errorf("%+v, %v", m, err)
	}
}
