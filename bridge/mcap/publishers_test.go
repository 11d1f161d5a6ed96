package mcap_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
)

// Two channels of one topic that take turns with messages of their own are two publishers, of which a map selects
// one. Channels that follow each other, or have the same messages, are of one.
func TestChannelsOfOneTopic(t *testing.T) {
	const n = 200
	recording := func(channel func(i int) []note) (all []note) {
		for i, m := range patrol(n) {
			if i%2 > 0 {
				all = append(all, m)
			} else {
				for _, c := range channel(i / 2) {
					m.channel, m.data, m.stamp, m.logged = c.channel, c.data, m.stamp+c.stamp, m.logged+c.stamp
					all = append(all, m)
				}
			}
		}
		return all
	}
	of := func(i int, channel uint16, ahead float64, late int64) note {
		return note{channel: channel, stamp: late, data: pose(0.05*float64(i)+ahead, "odom", "base_link")}
	}
	robots := recording(func(i int) []note { return []note{of(i, 0, 0, 0), of(i, 4, 1, 20e6)} })
	_, _, err := try(t, "ros2-odometry", nil, written(t, robots))
	refused(t, err, `{ "channel" = "0" } (200 messages), { "channel" = "4" } (200 messages)`)
	want, _, err := try(t, "ros2-odometry", nil, written(t, patrol(n)))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		all   []note
		where importer.Where
	}{
		"selected":            {robots, importer.Where{"channel": "0"}},
		"one after the other": {recording(func(i int) []note { return []note{of(i, uint16(4*(2*i/n)), 0, 0)} }), nil},
		"recorded twice":      {recording(func(i int) []note { return []note{of(i, 0, 0, 0), of(i, 4, 0, 0)} }), nil},
	} {
		got, _, err := try(t, "ros2-odometry", c.where, written(t, c.all))
		if err != nil {
			t.Error(name, err)
			continue
		}
		if !slices.Equal(rows(want), rows(got)) {
			t.Error(name, len(rows(got)))
		}
	}
	_, _, err = try(t, "ros2-odometry", importer.Where{"channel": "7"}, written(t, robots))
	if err == nil || !strings.Contains(err.Error(), "channel") {
		t.Error(err)
	}
}
