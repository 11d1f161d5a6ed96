"""The node dgm: states and commands in, distributions of the state to come out.

    python3 -m dgm_ros.predict --model flight.dgm --map map.toml
    ros2 run dgm_ros predict --ros-args -p model:=flight.dgm -p map:=map.toml

It subscribes to the topics of the map, and to ~/plan (std_msgs/Float64MultiArray, rows × inputs that divide the horizon). It publishes

    ~/prediction      std_msgs/Float64MultiArray: horizons × (time, means, standard deviations)
    ~/odom_now        nav_msgs/Odometry at the time when a command sent now acts, with covariance, of robots with x and y
    ~/predicted_path  nav_msgs/Path over the horizon
    /diagnostics      once a second: rates, latency, coverage by state, rejected samples, out of distribution
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import pathlib
import sys
import time
from typing import Any, Dict, List, Optional, Sequence

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry, Path
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.utilities import remove_ros_args
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

import dgm

from . import mapping
from .robot import Robot

POSE, TWIST = ("x", "y", "z", "roll", "pitch", "yaw"), ("vx", "vy", "vz", "p", "q", "r")


class Predictor(Node):
    """Predicts at each state."""

    def __init__(self, model: str = "", map_: str = ""):
        super().__init__("dgm")
        declare = lambda name, value, text: self.declare_parameter(name, value, ParameterDescriptor(description=text)).value  # noqa: E731
        model = declare("model", model, "model file of dgm-train") or model
        map_ = declare("map", map_, "map file, the one that imported the recordings") or map_
        if not model or not map_:
            raise ValueError("model and map: both are needed: --model flight.dgm --map map.toml")
        rate = declare("rate", 0.0, "Hz, predictions at most; 0 = one for each state")
        self.points = declare("points", 20, "poses of predicted_path")
        max_age = declare("max_age", 0.25, "s, a state older than the newest one by this much is not known")
        latency = declare("latency", -1.0, "s from now until a command acts; -1 = as learned")
        self.frame = declare("frame_id", "", "frame of what is published; empty = that of the states")
        self.model = dgm.Model.load(model)
        self.latency = learned(model) if latency < 0 else latency
        self.period = 1 / rate if rate > 0 else 0.0
        self.robot = Robot(self.model, max_age)
        self.sources = mapping.read(map_, self.model.states, self.model.inputs)
        self.base = max(self.sources, key=lambda s: sum(place < self.robot.K for place in s.getters))
        self.waiting = list(self.sources)
        self.last, self.frames = -math.inf, ("", "")
        self.counts: Dict[str, int] = {"states": 0, "predictions": 0, "rejected": 0, "out of distribution": 0}
        self.reason, self.took = "", []  # type: str, List[float]
        self.create_subscription(Float64MultiArray, "~/plan", self.on_plan, 1)
        self.prediction = self.create_publisher(Float64MultiArray, "~/prediction", 1)
        self.path = self.create_publisher(Path, "~/predicted_path", 1)
        self.now = self.create_publisher(Odometry, "~/odom_now", 1)
        self.diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 1)
        self.create_timer(0.5, self.subscribe)
        self.create_timer(1.0, self.diagnose)
        self.subscribe()
        self.get_logger().info(f"{model}: predicts {', '.join(self.model.states)} {self.model.horizon:g} s ahead; commands act after {1000 * self.latency:.0f} ms")

    def subscribe(self) -> None:
        """Subscribes to the topics that are there by now; a map may name a type alone."""
        known = {name: types for name, types in self.get_topic_names_and_types()}
        read = {place for s in self.sources if s not in self.waiting for place in s.getters}
        for s in [s for s in self.waiting if not set(s.getters) <= read]:  # else another of the map's alternatives is there
            if not s.topic:
                names = sorted(n for n, types in known.items() if s.type in types and not n.startswith(self.get_name()))
                if not names:
                    self.reason = f"nobody publishes {s.type}"
                    continue
                if len(names) > 1:
                    self.reason = f"{', '.join(names)} are of {s.type}: write topic = \"…\" in the map"
                    self.get_logger().error(self.reason, throttle_duration_sec=10.0)
                    continue
                s.topic = names[0]
            kind = s.type or next(iter(known.get(s.topic, [])), "")
            if not kind:
                self.reason = f"nobody publishes {s.topic}"
                continue
            package, _, name = kind.split("/")
            message = getattr(importlib.import_module(f"{package}.msg"), name)
            self.create_subscription(message, s.topic, lambda m, s=s: self.on_message(s, m), qos_profile_sensor_data)
            self.waiting.remove(s)

    def on_plan(self, m: Any) -> None:
        """Takes the plan that counts from now on; an empty one ends it."""
        P = self.robot.P
        if not m.data:
            self.robot.plan = None
        elif P == 0 or len(m.data) % P or not np.isfinite(m.data).all():
            self.get_logger().error(f"plan: has {len(m.data)} numbers, must have rows of the {P} inputs {', '.join(self.model.inputs)}", throttle_duration_sec=5.0)
        else:
            self.robot.plan = 1e-9 * self.get_clock().now().nanoseconds, np.reshape(m.data, (-1, P))

    def on_message(self, s: mapping.Source, m: Any) -> None:
        began = time.perf_counter()
        if not s.accepts(m):
            return
        header = getattr(m, "header", None)
        stamp = 0.0 if header is None else header.stamp.sec + 1e-9 * header.stamp.nanosec
        t = stamp or 1e-9 * self.get_clock().now().nanoseconds
        self.robot.update(t, s.read(m))
        if s is not self.base:
            return
        self.counts["states"] += 1
        if header is not None:
            self.frames = (header.frame_id, getattr(m, "child_frame_id", ""))
        reason = self.robot.sample(t)
        if reason:
            self.counts["rejected"] += 1
            self.reason = reason
            return
        if -1e-9 < t - self.last < self.period * 0.999:
            return
        self.last = t
        try:
            p = self.robot.predict()
        except (ValueError, ArithmeticError) as e:
            self.counts["rejected"] += 1
            self.reason = str(e)
            return
        if not (np.isfinite(p.mean).all() and np.isfinite(p.std).all()):
            self.counts["rejected"] += 1
            return
        self.counts["predictions"] += 1
        self.counts["out of distribution"] += bool(p.out_of_distribution)
        self.publish(t, p)
        self.took.append(time.perf_counter() - began)

    def publish(self, t: float, p: Any) -> None:
        rows = np.column_stack([p.times, p.mean, p.std])
        m = Float64MultiArray()
        m.layout.dim = [MultiArrayDimension(label="horizon", size=rows.shape[0], stride=rows.size),
                        MultiArrayDimension(label="t," + ",".join([*self.model.states, *(n + "_std" for n in self.model.states)]), size=rows.shape[1], stride=rows.shape[1])]
        m.data = rows.ravel().tolist()
        self.prediction.publish(m)
        if not {"x", "y"} <= set(self.model.states):
            return
        path = Path()
        path.header.stamp, path.header.frame_id = stamp_of(t), self.frame or self.frames[0]
        for i in np.unique(np.linspace(0, len(p.times) - 1, max(1, self.points)).astype(int)):
            pose = PoseStamped()
            pose.header.stamp, pose.header.frame_id = stamp_of(t + p.times[i]), path.header.frame_id
            self.set_pose(pose.pose, p.mean[i])
            path.poses.append(pose)
        self.path.publish(path)
        self.now.publish(self.odometry(t, p))

    def odometry(self, t: float, p: Any) -> Odometry:
        """The state when a command sent now acts: the age of the state and the latency after it."""
        ahead = max(0.0, 1e-9 * self.get_clock().now().nanoseconds - t)
        ahead = (ahead if ahead < self.model.horizon else 0.0) + self.latency
        times, x = np.concatenate([[0], p.times]), self.robot.samples[-1][1]
        ahead = min(ahead, times[-1])
        at = lambda all_: np.array([np.interp(ahead, times, c) for c in all_.T])  # noqa: E731
        mean, i = at(np.vstack([x, p.mean])), min(int(np.searchsorted(p.times, ahead)), len(p.times) - 1)
        out = Odometry()
        out.header.stamp, out.header.frame_id = stamp_of(t + ahead), self.frame or self.frames[0]
        out.child_frame_id = self.frames[1]
        self.set_pose(out.pose.pose, mean)
        places = {n: k for k, n in enumerate(self.model.states)}
        for name, part, axis in zip(TWIST, ("linear",) * 3 + ("angular",) * 3, "xyzxyz"):
            if name in places:
                setattr(getattr(out.twist.twist, part), axis, float(mean[places[name]]))
        for names, target in ((POSE, out.pose), (TWIST, out.twist)):
            covariance = np.zeros((6, 6))
            for a, na in enumerate(names):
                for b, nb in enumerate(names):
                    if na in places and nb in places:
                        covariance[a, b] = p.cov[i, places[na], places[nb]]
            target.covariance = covariance.ravel().tolist()
        return out

    def set_pose(self, pose: Any, x: np.ndarray) -> None:
        at = lambda name: float(x[self.model.states.index(name)]) if name in self.model.states else 0.0  # noqa: E731
        pose.position.x, pose.position.y, pose.position.z = at("x"), at("y"), at("z")
        (sr, cr), (sp, cp), (sy, cy) = ((math.sin(at(n) / 2), math.cos(at(n) / 2)) for n in ("roll", "pitch", "yaw"))
        q = pose.orientation
        q.w, q.x = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
        q.y, q.z = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy

    def diagnose(self) -> None:
        s = DiagnosticStatus(name="dgm: predictions", hardware_id=self.model.id)
        took, self.took = self.took, []
        items: Dict[str, str] = {k: str(v) for k, v in self.counts.items()}
        items["clock restarts"] = str(self.robot.restarts)
        if took:
            items["latency p50, ms"] = f"{1000 * float(np.median(took)):.2f}"
        wrong = []
        for name, (share, n) in self.robot.coverage().items():
            if n:
                items[f"in 95 %: {name}"] = f"{100 * share:.1f} % of {n}"
            if n >= 200 and share < 0.8:
                wrong.append(name)
        s.level, s.message = DiagnosticStatus.OK, f"{len(took)} predictions in the last second"
        if wrong:
            s.level, s.message = DiagnosticStatus.WARN, f"the intervals of {', '.join(wrong)} do not hold"
        if not took:
            s.level, s.message = DiagnosticStatus.ERROR, "no predictions: " + (self.reason or "no state was received")
        s.values = [KeyValue(key=k, value=v) for k, v in items.items()]
        out = DiagnosticArray(status=[s])
        out.header.stamp = self.get_clock().now().to_msg()
        self.diagnostics.publish(out)


def learned(model: str) -> float:
    """The longest latency of the inputs that the report beside a model has, s; 0 without one."""
    report = pathlib.Path(model).with_suffix(".report.json")
    if not report.exists():
        return 0.0
    known = [row for row in json.loads(report.read_text(encoding="utf-8")).get("latency", []) if row.get("known")]
    return max((row["dead_time_s"] + row["lag_s"] for row in known), default=0.0)


def stamp_of(t: float) -> Any:
    from builtin_interfaces.msg import Time

    ns = round(t * 1e9)
    return Time(sec=int(ns // 10**9), nanosec=int(ns % 10**9))


def main(args: Optional[Sequence[str]] = None) -> int:
    args = list(sys.argv if args is None else args)
    parser = argparse.ArgumentParser(prog="dgm_ros.predict", description="Predicts a robot's state from its topics.")
    parser.add_argument("--model", default="", help="model file of dgm-train")
    parser.add_argument("--map", default="", help="map file, the one that imported the recordings")
    own = parser.parse_args(remove_ros_args(args)[1:])
    rclpy.init(args=args)
    try:
        node = Predictor(own.model, own.map)
        rclpy.spin(node)
    except (mapping.MapError, ValueError, OSError) as e:
        print(f"dgm_ros: {e}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
        pass
    finally:
        if rclpy.ok():
            rclpy.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
