"""The node with the real rclpy: a simulated diff-drive publishes, the node predicts in a process of its own, this one receives."""
import math
import os
import pathlib
import subprocess
import sys
import time

import pytest

np = pytest.importorskip("numpy")
rclpy = pytest.importorskip("rclpy")
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import Twist  # noqa: E402
from nav_msgs.msg import Odometry, Path  # noqa: E402
from rclpy.qos import qos_profile_sensor_data  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402

import dgm  # noqa: E402
from dgm import programs  # noqa: E402

DEAD, LAG, DT = 0.06, 0.02, 0.02
NAMES = dict(states=["x", "y", "yaw", "vx", "r"], inputs=["cmd_vx", "cmd_r"],
             units={"x": "m", "y": "m", "yaw": "rad", "vx": "m/s", "r": "rad/s", "cmd_vx": "m/s", "cmd_r": "rad/s"})
MAP = """
[[channel]]
names = ["x", "y"]
topic = "/odom"
type = "nav_msgs/msg/Odometry"
fields = ["pose.pose.position.x", "pose.pose.position.y"]
role = "state"
[[channel]]
names = ["roll", "pitch", "yaw"]
topic = "/odom"
type = "nav_msgs/msg/Odometry"
quaternion = ["pose.pose.orientation.w", "pose.pose.orientation.x", "pose.pose.orientation.y", "pose.pose.orientation.z"]
role = "state"
[[channel]]
names = ["vx", "r"]
topic = "/odom"
type = "nav_msgs/msg/Odometry"
fields = ["twist.twist.linear.x", "twist.twist.angular.z"]
role = "state"
[[channel]]
names = ["cmd_vx", "cmd_r"]
topic = "/cmd_vel"
type = "geometry_msgs/msg/Twist"
fields = ["linear.x", "angular.z"]
role = "input"
"""


class Drive:
    """A differential drive whose velocities follow commands after a dead time, with a lag; measured with noise."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.x, self.v, self.sent = np.zeros(5), np.zeros(2), []
        self.u = np.zeros(2)

    def step(self, i):
        if i % 25 == 0:
            self.u = np.array([self.rng.uniform(0, 1), self.rng.uniform(-1.5, 1.5)])
        self.sent.append(self.u)
        measured = self.x + self.rng.normal(size=5) * [0.002, 0.002, 0.002, 0.01, 0.01]
        late = self.sent[max(0, len(self.sent) - 1 - round(DEAD / DT))]
        for _ in range(20):
            h = DT / 20
            self.x[3:] += h / 0.15 * (self.v - self.x[3:])
            self.v = late + (self.v - late) * math.exp(-h / LAG)
            self.x[:3] += h * np.array([self.x[3] * math.cos(self.x[2]), self.x[3] * math.sin(self.x[2]), self.x[4]])
        return measured, self.u


def fly(seed, n=900):
    d = Drive(seed)
    rows = [d.step(i) for i in range(n)]
    return np.arange(n) * DT, np.array([r[0] for r in rows]), np.array([r[1] for r in rows])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    try:
        programs.find("dgm-train")
    except FileNotFoundError:
        pytest.skip("dgm-train is not here")
    folder = tmp_path_factory.mktemp("drive")
    t, x, u = zip(*map(fly, range(5)))
    m = dgm.fit(list(t), list(x), list(u), **NAMES, horizon=0.5, preset="quick", filter="off", out=folder / "drive.dgm", progress=False)
    (folder / "map.toml").write_text(MAP)
    latency = [row["dead_time_s"] for row in m.report["latency"] if row["known"]]
    assert len(latency) == 2 and max(abs(v - DEAD) for v in latency) < 0.005
    return folder


SENDER = """
import rclpy, time
from std_msgs.msg import Float64MultiArray
rclpy.init()
node = rclpy.create_node("sender")
publisher = node.create_publisher(Float64MultiArray, "/probe", 1)
end = time.time() + 15
while time.time() < end:
    publisher.publish(Float64MultiArray(data=[1.0]))
    time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def network():
    """Skips where two processes of rclpy do not find each other: no network, not the node, is to blame."""
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    sender = subprocess.Popen([sys.executable, "-c", SENDER])
    rclpy.init()
    probe, got = rclpy.create_node("probe"), []
    try:
        probe.create_subscription(Float64MultiArray, "/probe", got.append, 1)
        end = time.time() + 15
        while not got and time.time() < end:
            rclpy.spin_once(probe, timeout_sec=0.1)
    finally:
        sender.kill()
        sender.wait()
        probe.destroy_node()
        rclpy.shutdown()
    if not got:
        pytest.skip("two processes of rclpy do not find each other here")


def odometry(x, t):
    m = Odometry()
    m.header.frame_id, m.child_frame_id = "odom", "base_link"
    m.header.stamp.sec, m.header.stamp.nanosec = int(t), int((t - int(t)) * 1e9)
    m.pose.pose.position.x, m.pose.pose.position.y = float(x[0]), float(x[1])
    m.pose.pose.orientation.w, m.pose.pose.orientation.z = math.cos(x[2] / 2), math.sin(x[2] / 2)
    m.twist.twist.linear.x, m.twist.twist.angular.z = float(x[3]), float(x[4])
    return m


def test_node(network, files):
    node = subprocess.Popen([sys.executable, "-B", "-m", "dgm_ros.predict", "--model", str(files / "drive.dgm"), "--map", str(files / "map.toml")],
                            stderr=subprocess.PIPE, text=True)
    rclpy.init()
    robot = rclpy.create_node("robot")
    got = {k: [] for k in ("prediction", "now", "path", "diagnostics")}
    try:
        odom, command = robot.create_publisher(Odometry, "/odom", qos_profile_sensor_data), robot.create_publisher(Twist, "/cmd_vel", 10)
        for key, kind, topic in (("prediction", Float64MultiArray, "/dgm/prediction"), ("now", Odometry, "/dgm/odom_now"),
                                 ("path", Path, "/dgm/predicted_path"), ("diagnostics", DiagnosticArray, "/diagnostics")):
            robot.create_subscription(kind, topic, lambda m, key=key: got[key].append(m), 10)
        end = time.time() + 20
        while (odom.get_subscription_count() == 0 or command.get_subscription_count() == 0) and time.time() < end:
            assert node.poll() is None, node.stderr.read()
            rclpy.spin_once(robot, timeout_sec=0.05)
        drive, truth = Drive(77), []
        began = time.time()
        for i in range(350):
            x, u = drive.step(i)
            t = began + i * DT
            truth.append((t, x))
            m = Twist()
            m.linear.x, m.angular.z = float(u[0]), float(u[1])
            command.publish(m)
            time.sleep(0.002)  # the command is received before the state, as in the log
            broken = x.copy()
            if i in (100, 101):
                broken[3] = math.nan  # what a wheel's sensor sends that is lost
            odom.publish(odometry(broken, t))
            while time.time() < t + DT:
                rclpy.spin_once(robot, timeout_sec=0.001)
        for _ in range(100):
            rclpy.spin_once(robot, timeout_sec=0.01)
    finally:
        node.terminate()
        errors = node.communicate(timeout=10)[1]
        robot.destroy_node()
        rclpy.shutdown()
    n = len(got["prediction"])
    assert n > 150, (n, [d.status[0].message for d in got["diagnostics"]], errors)
    K = 5
    for m in got["prediction"]:
        rows = np.reshape(m.data, (-1, 1 + 2 * K))
        assert np.isfinite(rows).all() and (rows[:, 1 + K :] > 0).all() and m.layout.dim[1].label.startswith("t,x,y,yaw,vx,r,x_std")
    # The odometry of the time when a command acts is nearer to what comes then than the odometry of now.
    times = np.array([t for t, _ in truth])
    states = np.array([x for _, x in truth])
    own, predicted = [], []
    for m in got["now"]:
        t = m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec
        if t < times[-1] and m.header.frame_id == "odom" and m.child_frame_id == "base_link":
            at = np.array([np.interp(t, times, c) for c in states.T])
            held = np.array([np.interp(t - DEAD - LAG, times, c) for c in states.T])
            predicted.append(math.hypot(m.pose.pose.position.x - at[0], m.pose.pose.position.y - at[1]))
            own.append(math.hypot(held[0] - at[0], held[1] - at[1]))
            assert m.pose.covariance[0] > 0 and m.twist.covariance[35] > 0
    assert len(own) > 100
    ratio = float(np.sqrt(np.mean(np.square(predicted)) / np.mean(np.square(own))))
    print(f"error of odom_now over that of the odometry {1000 * (DEAD + LAG):.0f} ms before: {ratio:.2f}")
    assert ratio < 0.3
    assert len(got["path"]) == len(got["now"]) and 10 < len(got["path"][-1].poses) <= 20
    seconds = [{v.key: v.value for v in d.status[0].values} for d in got["diagnostics"]]
    last = [s for s in seconds if "latency p50, ms" in s][-1]  # not one after the robot has stopped
    print(last)
    assert int(last["rejected"]) >= 2 and float(last["latency p50, ms"]) < 20 and "in 95 %: x" in last


def test_wrong_files(files, tmp_path):
    bad = tmp_path / "map.toml"
    bad.write_text(MAP.replace('"cmd_r"', '"other"'))
    for arguments, text in ((["--model", "nowhere.dgm", "--map", str(files / "map.toml")], "nowhere.dgm"), (["--model", str(files / "drive.dgm")], "both are needed"),
                            (["--model", str(files / "drive.dgm"), "--map", str(bad)], "no source for cmd_r")):
        done = subprocess.run([sys.executable, "-B", "-m", "dgm_ros.predict", *arguments], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and text in done.stderr, done.stderr
    assert pathlib.Path(files / "drive.dgm").exists()
