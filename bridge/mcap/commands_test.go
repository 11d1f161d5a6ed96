package mcap_test

import (
	"strings"
	"testing"
)

// Of two topics of commands none is left out unseen: the user names one.
func TestTwoCommands(t *testing.T) {
	all := patrol(400)
	for i, n := range all {
		if n.channel == 1 && i%4 == 1 {
			n.channel = 6
			all = append(all, n)
		}
	}
	if _, _, err := try(t, "ros2-odometry", nil, written(t, all)); err == nil || !strings.Contains(err.Error(), "several topics are of type geometry_msgs/msg/Twist: /cmd_vel, /cmd_vel_nav") || !strings.Contains(err.Error(), "--print-map") {
		t.Error(err)
	}
}

// A robot that waits for minutes between commands has one segment.
func TestCommandsThatPause(t *testing.T) {
	var all []note
	for i, n := range patrol(8000) {
		if n.channel == 0 || i < 6000 || i > 12500 {
			all = append(all, n)
		}
	}
	log, s, err := try(t, "ros2-odometry", nil, written(t, all))
	if err != nil || len(log.Segments) != 1 || s.Rows != 8000 || strings.Contains(strings.Join(s.Texts(), "\n"), "the clock was set") {
		t.Error(err, s)
	}
}
