package budget

import (
	"testing"
	"time"
)

func TestRowsThatThereIsTimeFor(t *testing.T) {
	for _, c := range []struct {
		name       string
		took, left time.Duration
		times      float64
		want       int
	}{
		{"ten times as many", time.Second, 100 * time.Second, 6, 5000},
		{"no time for more", time.Second, time.Second, 6, 500},
		{"time is over", time.Second, -time.Minute, 6, 500},
		{"it took no time", 0, time.Hour, 6, 1000000},
	} {
		if got := affordable(c.took, 500, c.left, c.times); got != c.want {
			t.Errorf("%s: %d rows, expected %d", c.name, got, c.want)
		}
	}
}
