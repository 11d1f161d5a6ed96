package mcap_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// The channels of the recordings here that these tests add.
const (
	px4Odometry   = 9
	stampedTwists = 10
	px4Motors     = 11
	px4Second     = 12 // the odometry of another one, and behind it its motors
)

const twistStampedMsg = `std_msgs/Header header
Twist twist
` + headerMsg + sep + "MSG: geometry_msgs/Twist\n" + plainTwistMsg

const px4OdometryMsg = `uint64 timestamp
uint64 timestamp_sample
uint8 pose_frame
float32[3] position
float32[4] q
uint8 velocity_frame
float32[3] velocity
float32[3] angular_velocity
uint8 reset_counter
`

// refused fails unless an import ends with an error that has all of these parts.
func refused(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v; expected %q in it", err, part)
		}
	}
}

// arm is a message of joints that names a frame.
func arm(frame string, names []string, positions ...float64) func(int64) []byte {
	return func(stamp int64) []byte {
		return head(cdrtest.New(), stamp, frame).Seq(len(names)).Text(names...).Seq(len(positions)).F64(positions...).Seq(0).Seq(0).B
	}
}

// Messages of joints that name none are of no joint; those behind them that name some are read.
func TestJointsWithoutNames(t *testing.T) {
	recording := func(names func(i int) []string) []byte {
		var all []note
		for i := range 400 {
			at := 1700*second*1e6 + int64(i)*20e6
			all = append(all, note{2, at, at, arm("", names(i), math.Sin(0.02*float64(i)), math.Cos(0.03*float64(i)))})
		}
		return written(t, all)
	}
	for _, none := range [][]string{{}, {"", ""}} {
		_, _, err := try(t, "joint-states", nil, recording(func(int) []string { return none }))
		refused(t, err, "name is empty in all messages of topic /joint_states of 0.mcap")
	}
	log, _, err := try(t, "joint-states", nil, recording(func(i int) []string {
		if i < 100 {
			return nil
		}
		return []string{"a", "b"}
	}))
	if err != nil || strings.Join(channel.Names(log.Channels), " ") != "a b" {
		t.Fatal(err, log)
	}
	for i := range 400 {
		if x := log.Segments[0].X[2*i]; math.IsNaN(x) != (i < 100) || i >= 100 && x != math.Sin(0.02*float64(i)) {
			t.Fatalf("row %d: %v", i, x)
		}
	}
}

// Two arms whose joints have the same names are distinguished by the frames of their messages;
// publishers of different joints are read together.
func TestTwoArms(t *testing.T) {
	recording := func(right []string) []byte {
		var all []note
		for i := range 400 {
			at := 1700*second*1e6 + int64(i)*20e6
			all = append(all, note{2, at, at, arm("left", []string{"j"}, math.Sin(0.02*float64(i)))})
			if i%2 == 0 {
				all = append(all, note{2, at + 4e6, at + 4e6, arm("right", right, 2+math.Sin(0.05*float64(i)))})
			}
		}
		return written(t, all)
	}
	same := recording([]string{"j"})
	_, _, err := try(t, "joint-states", nil, same)
	refused(t, err, `several senders with "j" in name: { "header.frame_id" = "left" } (400 messages), { "header.frame_id" = "right" } (200 messages)`)
	log, _, err := try(t, "joint-states", importer.Where{"header.frame_id": "right"}, same)
	if err != nil || len(log.Segments[0].T) != 200 || log.Segments[0].X[10] != 2+math.Sin(1) {
		t.Error(err, log)
	}
	log, _, err = try(t, "joint-states", nil, recording([]string{"g"}))
	if err != nil || strings.Join(channel.Names(log.Channels), " ") != "j g" {
		t.Error(err, log)
	}
}

// A sender that sends nothing is not selected in silence.
func TestWhereSelectsNothing(t *testing.T) {
	file := written(t, patrol(400))
	for _, where := range []importer.Where{{"child_frame_id": "nobody"}, {"robot": "r2"}} {
		_, _, err := try(t, "ros2-odometry", where, file)
		refused(t, err, "no message of 0.mcap that the map names has "+where.String(), `there are: { "child_frame_id" = "base_link", "header.frame_id" = "odom" } (400 messages)`)
	}
}

// A few messages of another sender are left out, which is reported.
func TestFewOfAnotherSender(t *testing.T) {
	all := patrol(400)
	for i := range 40 {
		if n := &all[i]; n.channel == 0 {
			n.data = pose(0.05*float64(i/2), "/odom", "base_link")
		}
	}
	log, s, err := try(t, "ros2-odometry", nil, written(t, all))
	if err != nil || len(rows(log)) != 380 || !strings.Contains(strings.Join(s.Texts(), "\n"), `20 of 400 messages of /odom left out, because they have another sender than the rest: { "child_frame_id" = "base_link", "header.frame_id" = "/odom" } (20 messages)`) {
		t.Error(err, s)
	}
}

// Of several recordings each one must have one sender, and what selects it does so in all of them.
func TestSecondRecordingOfTwoSenders(t *testing.T) {
	two := patrol(400)
	for i, n := range patrol(400) {
		if n.channel == 0 && i%4 == 0 {
			two = append(two, note{0, n.logged + 4e6, n.stamp + 10e6, pose(7+0.03*float64(i), "odom", "camera")})
		}
	}
	slices.SortFunc(two, func(a, b note) int { return int(a.logged - b.logged) })
	files := [][]byte{written(t, patrol(400)), written(t, two)}
	_, _, err := try(t, "ros2-odometry", nil, files...)
	refused(t, err, `topic /odom of 1.mcap has messages of several senders: { "child_frame_id" = "base_link" } (400 messages), { "child_frame_id" = "camera" } (200 messages)`)
	log, _, err := try(t, "ros2-odometry", importer.Where{"child_frame_id": "base_link"}, files...)
	if err != nil || len(rows(log)) != 800 {
		t.Error(err)
	}
}

// The names of the first recording count; those that only a later one has are said to be left out.
func TestNamesOfSeveralRecordings(t *testing.T) {
	arm := func(names ...string) []byte {
		var all []note
		for i := range 100 {
			at := 1700*second*1e6 + int64(i)*20e6
			all = append(all, note{2, at, at, state(names, []float64{0.01 * float64(i), math.Sin(0.1 * float64(i)), 0.02 * float64(i)}[:len(names)], true)})
		}
		return written(t, all)
	}
	for _, c := range []struct {
		files [][]byte
		want  string
	}{{[][]byte{arm("a", "b"), arm("b", "a", "gripper")}, "1.mcap: gripper left out: not in 0.mcap, whose names count"}, {[][]byte{arm("a", "b", "gripper"), arm("b", "a")}, ""}} {
		_, s, err := try(t, "joint-states", nil, c.files...)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(s.Texts(), "\n"); strings.Contains(said, "whose names count") != (c.want != "") || !strings.Contains(said, c.want) {
			t.Error(said)
		}
	}
}

// An input that a map may do without is not left out because several senders give it.
func TestTwoSendersOfCommands(t *testing.T) {
	var all []note
	for i, n := range patrol(400) {
		if n.channel == 1 {
			frame := []string{"joy", "nav"}[i/2%2]
			n = note{stampedTwists, n.logged, n.logged, func(stamp int64) []byte {
				return head(cdrtest.New(), stamp, frame).F64(1, 0, 0, 0, 0, 0.1*float64(i%7)).B
			}}
		}
		all = append(all, n)
	}
	file := written(t, all)
	_, _, err := try(t, "ros2-odometry", nil, file)
	refused(t, err, "channel cmd_vx, cmd_vy, cmd_vz, cmd_r: topic /cmd_vel of 0.mcap has messages of several senders", `"header.frame_id" = "joy"`, `"header.frame_id" = "nav"`)
	if log, _, err := try(t, "ros2-odometry", importer.Where{"header.frame_id": "nav"}, file); err != nil || channel.Index(log.Channels, "cmd_r") < 0 {
		t.Error(err)
	}
}

// px4 is the odometry of PX4 for 400 steps of 20 ms, recorded with delays of 2 to 52 ms.
func px4(begin int64, frame byte, resets func(i int) byte) (all []note) {
	for i := range 400 {
		at := 1700*second*1e6 + int64(i)*20e6
		logged := at + 2e6 + int64(50e6*math.Abs(math.Sin(97*float64(i))))
		all = append(all, note{px4Odometry, logged, begin + int64(i)*20e6, func(stamp int64) []byte {
			a := 0.02 * float64(i)
			w := cdrtest.New().U64(uint64(stamp/1000), uint64(stamp/1000)).U8(frame)
			w.F32(float32(math.Sin(a))+20*float32(resets(i)), float32(a), -10, float32(math.Cos(a/2)), 0, 0, float32(math.Sin(a/2)))
			return w.U8(1).F32(float32(math.Cos(a)), 1, 0, 0, 0, 1).U8(resets(i)).B
		}}, note{px4Motors, logged, begin + int64(i)*20e6, func(stamp int64) []byte {
			return cdrtest.New().U64(uint64(stamp / 1000)).F32(make([]float32, 12)...).B
		}})
	}
	slices.SortStableFunc(all, func(a, b note) int { return int(a.logged - b.logged) })
	return all
}

// Stamps of PX4 count, whether its clock is synchronised with that of ROS or not.
func TestPX4Stamps(t *testing.T) {
	for _, begin := range []int64{100 * second, 1700 * second * 1e6} {
		log, s, err := try(t, "px4-ros2", nil, written(t, px4(begin, 1, func(int) byte { return 0 })))
		if err != nil {
			t.Fatal(err)
		}
		times := log.Segments[0].T
		for i := range times {
			if step := times[i] - times[max(0, i-1)]; i > 0 && (step < 19.9e6 || step > 20.1e6) || len(times) != 400 {
				t.Fatalf("row %d of %d comes %d ns after the one before\n%s", i, len(times), step, strings.Join(s.Texts(), "\n"))
			}
		}
	}
}

// PX4's clock has one name, synchronised or not, by which a map gives its offset; where stamps
// of both kinds are in one log the map must choose.
func TestPX4ClockOfAMap(t *testing.T) {
	still := func(int) byte { return 0 }
	apart, epoch := px4(100*second, 1, still), px4(1700*second*1e6, 1, still)
	both := slices.Clone(epoch)
	for i := range both {
		if both[i].channel == px4Motors {
			both[i] = apart[i]
		}
	}
	yes := true
	for name, c := range map[string]struct {
		notes []note
		clock importer.Setting
		want  string
	}{
		"began with the autopilot": {apart, importer.Setting{Name: "px4 of /drone1", Offset: 7}, "clock px4 of /drone1 is 7 s behind the recorder's, by the map"},
		"synchronised":             {epoch, importer.Setting{Name: "px4 of /drone1", Offset: 7}, "clock px4 of /drone1 (synchronised) is 7 s behind the recorder's, by the map"},
		"both":                     {both, importer.Setting{Name: "px4 of /drone1", Offset: 7}, `clock "px4 of /drone1" of 0.mcap is two: some stamps count since 1970, others do not; write synchronised = true or false beside its name`},
		"one of both":              {both, importer.Setting{Name: "px4 of /drone1", Offset: 7, Synchronised: &yes}, "clock px4 of /drone1 (synchronised) is 7 s behind the recorder's, by the map"},
		"none":                     {epoch, importer.Setting{Name: "px5", Offset: 7}, `clock "px5" of the map is not in 0.mcap; there are: px4 of /drone1 (synchronised): correct its name`},
	} {
		_, s, err := tryMap(t, "px4-ros2", func(m *importer.Map) { m.Clocks = []importer.Setting{c.clock} }, written(t, c.notes))
		text := fmt.Sprint(err)
		if s != nil {
			text = strings.Join(s.Texts(), "\n")
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// Each PX4 of a recording has a clock of its own, which counts since it began or since 1970.
func TestClocksOfSeveralPX4(t *testing.T) {
	all := px4(100*second, 1, func(int) byte { return 0 })
	for _, n := range px4(900*second, 1, func(int) byte { return 0 }) {
		if n.channel += px4Second - px4Odometry; n.channel > px4Second {
			n.channel = px4Second + 1
		}
		all = append(all, n)
	}
	slices.SortStableFunc(all, func(a, b note) int { return int(a.logged - b.logged) })
	for robot, behind := range map[string]string{"/drone1": "1699999900.002", "/drone2": "1699999100.002"} {
		_, s, err := tryTopics(t, "px4-ros2", []string{robot + "/fmu/out/vehicle_odometry_v1", robot + "/fmu/in/actuator_motors"}, nil, written(t, all))
		if err != nil {
			t.Fatal(err)
		}
		if want := "clock px4 of " + robot + " is " + behind + " s behind the recorder's"; !strings.Contains(strings.Join(s.Texts(), "\n"), want) {
			t.Errorf("not %s\n%s", want, strings.Join(s.Texts(), "\n"))
		}
	}
}

// A reset of PX4's estimator begins a segment, whatever its topic is called, and a pose in axes
// that do not point north is not one in ned.
func TestPX4ResetsAndFrames(t *testing.T) {
	log, _, err := try(t, "px4-ros2", nil, written(t, px4(100*second, 1, func(i int) byte { return byte(i / 200) })))
	if err != nil || len(log.Segments) != 2 || len(log.Segments[0].T) != 200 {
		t.Fatal(err, log)
	}
	log, s, err := try(t, "px4-ros2", nil, written(t, px4(100*second, 2, func(int) byte { return 0 })))
	if err != nil || channel.Index(log.Channels, "yaw") >= 0 || channel.Index(log.Channels, "vx") < 0 || !strings.Contains(strings.Join(s.Texts(), "\n"), "pose_frame of /drone1/fmu/out/vehicle_odometry_v1 is not 1") {
		t.Error(err, fmt.Sprint(s))
	}
}

// A log of which no state is ever measured, or no input is there, is refused as a loss.
func TestNothingMeasured(t *testing.T) {
	var efforts, still []note
	for i := range 400 {
		at := 1700*second*1e6 + int64(i)*20e6
		efforts = append(efforts, note{2, at, at, func(stamp int64) []byte {
			return head(cdrtest.New(), stamp, "").Seq(1).Text("a").Seq(0).Seq(0).Seq(1).F64(math.Sin(0.1 * float64(i))).B
		}})
		still = append(still, note{2, at, at, arm("", []string{"a"}, 1)})
	}
	for preset, files := range map[string][][]byte{
		"joint-states":  {written(t, efforts)},
		"ros2-odometry": {written(t, patrol(400)), written(t, slices.DeleteFunc(patrol(400), func(n note) bool { return n.channel == 1 }))},
	} {
		_, s, err := try(t, preset, nil, files...)
		if loss, ok := errors.AsType[*importer.LossError](err); !ok || s == nil || len(loss.Reasons) != 1 {
			t.Errorf("%s: %v", preset, err)
		}
	}
	log, _, err := try(t, "joint-states", nil, written(t, still))
	if err != nil || strings.Join(channel.Names(log.Channels), " ") != "a" {
		t.Error(err, log)
	}
}

// An attitude that is none is left out for that reason, and not for a condition that holds.
func TestQuaternionOfAnotherNorm(t *testing.T) {
	const back = 288 + 48 + 288 + 32 // from the end of the message
	recording := func(bad func(i int) bool) []byte {
		return record(t, 500, ways["zstd"], "ros2msg", func(i int) []byte {
			b := helix(i, true)
			for k := range 4 {
				if q := b[len(b)-back+8*k:]; bad(i) {
					binary.LittleEndian.PutUint64(q, math.Float64bits(2*math.Float64frombits(binary.LittleEndian.Uint64(q))))
				}
			}
			return b
		})
	}
	for want, bad := range map[string]func(i int) bool{
		"roll, pitch, yaw left out, never valid in the rows that are kept: the norm of the quaternion in /odom is not 1, in 500 of 500 rows (roll, pitch, yaw)": func(int) bool { return true },
		"roll, pitch, yaw not measured in 250 of 500 rows: the norm of the quaternion in /odom is not 1":                                                        func(i int) bool { return i%2 == 0 },
	} {
		_, s := imported(t, "ros2-odometry", recording(bad))
		if texts := strings.Join(s.Texts(), "\n"); !strings.Contains(texts, want) || strings.Contains(texts, "covariance") {
			t.Error(texts)
		}
	}
}
