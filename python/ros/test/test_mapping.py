"""Maps, and what a node knows of its robot. No ROS is needed."""
import math
import pathlib
from types import SimpleNamespace as Message

import pytest

np = pytest.importorskip("numpy")
from dgm_ros import mapping  # noqa: E402
from dgm_ros.robot import Robot  # noqa: E402

ODOMETRY = """
vehicle = "robot"
[[channel]]
names = ["x", "y"]
type = "nav_msgs/msg/Odometry"
fields = ["pose.x", "pose.y"]
role = "state"
invariant = true
[[channel]]
names = ["roll", "pitch", "yaw"]
type = "nav_msgs/msg/Odometry"
quaternion = ["q.w", "q.x", "q.y", "q.z"]
axes = "enu-flu"
role = "state"
[[channel]]
name = "cmd"
type = "geometry_msgs/msg/Twist"
field = "linear[1]"
scale = 2
offset = 1
role = "input"
[[channel.or]]
topic = "/cmd_stamped"
field = "twist.linear[1]"
"""
JOINTS = """
[[channel]]
each = "name"
name = "{}"
topic = "/joint_states"
field = "position[{}]"
role = "state"
[[channel]]
each = "name"
name = "{}_velocity"
topic = "/joint_states"
field = "velocity[{}]"
role = "state"
"""


def read(tmp_path, text, states, inputs=()):
    path = tmp_path / "map.toml"
    path.write_text(text)
    return mapping.read(path, states, inputs)


def test_fields_and_quaternions(tmp_path):
    odometry, twist, stamped = read(tmp_path, ODOMETRY, ["x", "y", "yaw"], ["cmd"])
    half = 0.3
    m = Message(pose=Message(x=1.5, y=-2), q=Message(w=math.cos(half), x=0.0, y=0.0, z=math.sin(half)))
    assert odometry.read(m) == {0: 1.5, 1: -2.0, 2: pytest.approx(0.6)}
    assert twist.read(Message(linear=[0, 3, 0])) == {3: 7.0}
    assert stamped.topic == "/cmd_stamped" and stamped.read(Message(twist=Message(linear=[0, 1, 0]))) == {3: 3.0}
    m.q = Message(w=0.0, x=0.0, y=0.0, z=0.0)
    assert math.isnan(odometry.read(m)[2])


def test_values_that_a_message_declares_invalid(tmp_path):
    text = ODOMETRY + '[[valid]]\nchannels = ["x", "z"]\ntype = "nav_msgs/msg/Odometry"\nfield = "covariance[0]"\nabove = -0.5\n'
    odometry = read(tmp_path, text, ["x", "y", "yaw"], ["cmd"])[0]
    m = Message(pose=Message(x=1.0, y=2.0), q=Message(w=1.0, x=0.0, y=0.0, z=0.0), covariance=[0.1])
    assert odometry.read(m) == {0: 1.0, 1: 2.0, 2: 0.0}
    m.covariance = [-1.0]
    assert math.isnan(odometry.read(m)[0]) and odometry.read(m)[1] == 2.0


def test_the_presets_are_read(tmp_path):
    presets = pathlib.Path(__file__).resolve().parents[3] / "bridge" / "importer" / "presets"
    states = ["x", "y", "yaw", "vx", "r"]
    sources = mapping.read(presets / "ros2-odometry.toml", states, ["cmd_vx", "cmd_r"])
    assert [s.type for s in sources] == ["nav_msgs/msg/Odometry", "geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistStamped"]
    assert len(mapping.read(presets / "joint-states.toml", ["elbow", "elbow_velocity"], ["elbow_effort"])) == 1


def test_joints_are_found_by_their_names_in_every_message(tmp_path):
    (source,) = read(tmp_path, JOINTS, ["elbow", "elbow_velocity", "wrist"])
    assert source.read(Message(name=["wrist", "elbow"], position=[1.0, 2.0], velocity=[3.0, 4.0])) == {0: 2.0, 1: 4.0, 2: 1.0}
    both = read(tmp_path, JOINTS + '[[channel]]\nname = "target"\ntopic = "/target"\nfield = "data[0]"\nrole = "input"\n', ["elbow", "elbow_velocity"], ["target"])
    assert [sorted(s.getters) for s in both] == [[0, 1], [2]]  # an input is no joint, whatever its name
    late = source.read(Message(name=["elbow"], position=[5.0], velocity=[]))
    assert late[0] == 5.0 and math.isnan(late[1]) and math.isnan(late[2])


@pytest.mark.parametrize("text, message", [
    ("[[channel]", "map.toml"),
    ("frames = 'ned-frd'" + ODOMETRY, "'frames'"),
    (ODOMETRY + '[[valid]]\nchannels = ["x"]\ntopic = "/status"\nfield = "ok"\nequals = [1]\n', "a topic from which no channel"),
    (ODOMETRY.replace('axes = "enu-flu"', 'axes = "enu-flu"\nframe = "ned-frd"'), "rotates no axes"),
    (ODOMETRY.replace("scale = 2", 'times = "battery"'), "'times'"),
    (ODOMETRY.replace("scale = 2", "scal = 2"), "'scal'"),
    (ODOMETRY.replace('"pose.x", "pose.y"', '"pose.x"'), "2 names and 1 fields"),
    (ODOMETRY.replace('type = "geometry_msgs/msg/Twist"', ""), "neither topic nor type"),
    (ODOMETRY.replace('name = "cmd"', 'name = "other"'), "no source for cmd"),
])
def test_maps_that_are_refused(tmp_path, text, message):
    with pytest.raises(mapping.MapError, match=message):
        read(tmp_path, text, ["x", "y", "yaw"], ["cmd"])


class Still:
    """A model of a robot that keeps its state."""

    states, inputs, history_rows, history_seconds, horizon, filtered = ("a", "b"), ("u",), 0, 0.0, 0.2, False

    def update(self, t, y, u=None):
        return Message(x=y, P=np.eye(2), P0=None)

    def forget(self):
        pass

    def predict(self, x, u=None, plan=None, history=None, P0=None):
        times = np.array([0.1, 0.2])
        return Message(times=times, mean=np.tile(x, (2, 1)), obs_std=np.full((2, 2), 0.5))


def test_a_state_is_complete_fresh_and_in_order():
    r = Robot(Still(), 0.25)
    r.update(1.0, {0: 1.0, 1: 2.0})
    assert "the input u" in r.sample(1.0)
    r.update(1.0, {2: 0.0})
    assert r.sample(1.0) is None and "not after" in r.sample(1.0)
    r.update(1.1, {0: 1.0, 1: math.nan})
    assert "b is not measured" in r.sample(1.1)
    r.update(1.4, {0: 1.0})
    assert "b has not been received for 0.3 s" in r.sample(1.4)
    r.update(1.9, {2: 0.0})  # commands have the time of their receipt: a state that comes late is no clock that was set
    r.update(1.5, {0: 1.0, 1: 2.0})
    assert r.restarts == 0 and r.sample(1.5) is None
    r.update(0.5, {0: 1.0, 1: 2.0})  # a clock that was set
    r.update(0.5, {2: 0.0})
    assert r.restarts == 1 and r.sample(0.5) is None and len(r.samples) == 1


def test_a_plan_passes_and_ends():
    r = Robot(Still(), 0.25)
    assert r.planned(1.0) is None
    r.plan = 1.0, np.array([[1.0], [2.0], [3.0], [4.0]])  # for 0.05 s each
    for t, rows in ((0.99, [1, 2, 3, 4]), (1.0, [1, 2, 3, 4]), (1.05, [2, 3, 4, 4]), (1.16, [4, 4, 4, 4])):
        assert r.planned(t)[:, 0].tolist() == rows
    assert r.planned(1.2) is None


def test_inputs_are_those_of_the_time_of_the_state():
    r = Robot(Still(), 0.25)
    for t, u in ((0.9, 1.0), (1.05, 2.0), (1.11, 3.0)):
        r.update(t, {2: u})
    r.update(1.0, {0: 1.0, 1: 2.0})
    assert r.sample(1.0) is None and r.samples[-1][2] == [1.0] and r.planned(1.0) is None  # no second sample yet: when the next one comes is not known
    r.update(1.1, {0: 1.0, 1: 2.0})
    assert r.sample(1.1) is None and r.samples[-1][2] == [2.0] and r.planned(1.1)[:, 0].tolist() == [2, 3]
    assert r.input_at(0.89).tolist() == [1] and r.input_at(0.8).tolist() == [3]  # stamps of another clock
    for i in range(1000):
        r.update(1.2 + 0.01 * i, {2: 0.0})
    assert len(r.commands) < 60


def test_coverage_is_of_later_measurements():
    r = Robot(Still(), 0.25)
    for i in range(100):
        t = 0.05 * i
        r.update(t, {0: 0.0, 1: 30.0 * t, 2: 0.0})
        assert r.sample(t) is None
        r.predict()
    shares = r.coverage()
    assert shares["a"][0] == 1.0 and shares["b"][0] == 0.0 and shares["a"][1] > 80
