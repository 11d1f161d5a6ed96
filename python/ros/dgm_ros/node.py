"""The node dgm: from the topics of a map to predictions, through the states of a lifecycle."""

from __future__ import annotations

import importlib
import math
import time
from typing import Any, Callable, Dict, List

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from nav_msgs.msg import Odometry, Path
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import Float64MultiArray

import dgm

from . import mapping, output
from .robot import Robot

PARAMETERS = {
    "model": ("", "model file of dgm-train"),
    "map": ("", "map file, the one that imported the recordings"),
    "autostart": (True, "configure and activate at the start; false: a lifecycle manager does"),
    "rate": (0.0, "Hz, predictions at most; 0 = one for each state"),
    "points": (20, "poses of predicted_path, ellipses of predicted_markers"),
    "max_age": (0.25, "s, a state older than the newest one by this much is not known"),
    "latency": (-1.0, "s from now until a command acts; -1 = as learned"),
    "frame_id": ("", "frame of what is published; empty = that of the states"),
    "adapt": (False, "learn what has changed of the robot, and correct predictions by it"),
    "tf": (False, "publish odom_now on /tf too, as the child frame with _predicted after its name; needs tf2_msgs"),
}
DRAWING = 0.1  # s between two sets of ellipses, which cost more than all the rest


class Predictor(LifecycleNode):
    """Predicts at each state while it is active."""

    def __init__(self, model: str = "", map_: str = ""):
        super().__init__("dgm")
        given = {"model": model, "map": map_}
        for name, (value, text) in PARAMETERS.items():
            self.declare_parameter(name, given.get(name) or value, ParameterDescriptor(description=text))
        self.failure = ""  # why the node could not be configured
        self.active = False
        self.diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 1)  # of a node that is not active, too
        self._made: List[Callable[[], Any]] = []  # what cleanup undoes

    def setting(self, name: str) -> Any:
        return self.get_parameter(name).value

    # Transitions.

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        try:
            self._configure()
        except (mapping.MapError, ValueError, OSError) as e:
            self.failure = str(e)
            self.get_logger().error(self.failure)
            self._undo()
            return TransitionCallbackReturn.FAILURE
        return super().on_configure(state)

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        self.active = True
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        self.active = False
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        self._undo()
        return super().on_cleanup(state)

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        self.active = False
        self._undo()
        return super().on_shutdown(state)

    def _undo(self) -> None:
        while self._made:
            self._made.pop()()

    def _configure(self) -> None:
        model, map_, latency = self.setting("model"), self.setting("map"), self.setting("latency")
        if not model or not map_:
            raise ValueError("model and map: both are needed: --model flight.dgm --map map.toml")
        self.model = dgm.Model.load(model)
        self._made.append(self.model.close)
        self.latency = max((dead + lag for dead, lag in self.model.latency.values()), default=0.0) if latency < 0 else latency
        self.period = 1 / self.setting("rate") if self.setting("rate") > 0 else 0.0
        self.adapts = self.setting("adapt")
        self.clock = output.Clock()
        self.robot, self.layout = Robot(self.model, self.setting("max_age")), output.Layout(self.model.states, self.clock)
        self.sources = mapping.read(map_, [n for n in self.model.states if n not in self.model.estimated], self.model.inputs, self.model.states)
        self.base = max(self.sources, key=lambda s: sum(place < self.robot.K for place in s.getters))
        self.waiting = list(self.sources)
        self.last, self.painted, self.frames = -math.inf, -math.inf, ("", "")
        self.counts: Dict[str, int] = {"states": 0, "predictions": 0, "rejected": 0, "out of distribution": 0}
        self.reason, self.took = "", []  # type: str, List[float]
        self.out = {name: self._publisher(kind, name) for name, kind in self._topics().items()}
        self._subscribe(Float64MultiArray, "~/plan", self.on_plan, 1)
        self._subscribe(Float64MultiArray, "~/plans", self.on_plans, 10)
        for period, call in ((0.5, self.subscribe), (1.0, self.diagnose)):
            timer = self.create_timer(period, call)
            self._made.append(lambda timer=timer: self.destroy_timer(timer))
        self.subscribe()
        filtered = f", with a filter that estimates {', '.join(self.model.estimated) or 'them from what is measured'}" if self.model.filtered else ""
        self.get_logger().info(f"{model}: predicts {', '.join(self.model.states)} {self.model.horizon:g} s ahead{filtered}; commands act after {1000 * self.latency:.0f} ms")

    def _topics(self) -> Dict[str, Any]:
        topics: Dict[str, Any] = {"~/prediction": Float64MultiArray, "~/tube": Float64MultiArray, "~/plans_prediction": Float64MultiArray}
        if not self.layout.moves:
            return {**topics, "~/estimate": Float64MultiArray, "~/state_now": Float64MultiArray}
        topics.update({"~/estimate": Odometry, "~/odom_now": Odometry, "~/predicted_path": Path})
        for name, package, kind, wanted in (("~/predicted_markers", "visualization_msgs.msg", "MarkerArray", True), ("/tf", "tf2_msgs.msg", "TFMessage", self.setting("tf"))):
            try:
                if wanted:
                    topics[name] = getattr(importlib.import_module(package), kind)
            except ImportError:
                self.get_logger().warning(f"{name} is not published: {package.split('.')[0]} is not installed")
        return topics

    def _publisher(self, kind: Any, topic: str) -> Any:
        made = self.create_lifecycle_publisher(kind, topic, 10)
        self._made.append(lambda: self.destroy_lifecycle_publisher(made))
        return made

    def _subscribe(self, kind: Any, topic: str, call: Callable[..., None], qos: Any) -> None:
        made = self.create_subscription(kind, topic, call, qos)
        self._made.append(lambda: self.destroy_subscription(made))

    # What comes.

    def subscribe(self) -> None:
        """Subscribes to the topics that are there by now; a map may name a type alone."""
        known = {name: types for name, types in self.get_topic_names_and_types()}
        read = {place for s in self.sources if s not in self.waiting for place in s.getters}
        for s in [s for s in self.waiting if not set(s.getters) <= read]:  # else another of the map's alternatives is there
            if not s.topic:
                names = sorted(n for n, types in known.items() if s.type in types and f"/{self.get_name()}/" not in n)
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
            self._subscribe(message, s.topic, lambda m, info, s=s: self.on_message(s, m, info["received_timestamp"]), qos_profile_sensor_data)
            self.waiting.remove(s)

    def on_plan(self, m: Any) -> None:
        """Takes the plan that counts from now on; an empty one ends it."""
        P = self.robot.P
        if not m.data:
            self.robot.plan = None
        elif P == 0 or len(m.data) % P or not np.isfinite(m.data).all():
            self.get_logger().error(f"plan: has {len(m.data)} numbers, must have rows of the {P} inputs {', '.join(self.model.inputs)}", throttle_duration_sec=5.0)
        else:
            self.robot.plan = self.now(), np.reshape(m.data, (-1, P))

    def on_plans(self, m: Any) -> None:
        """Answers a batch of plans from the newest state: plans × rows × inputs. The offset of the layout comes back with the answer."""
        sizes = [d.size for d in m.layout.dim]
        if len(sizes) != 3 or sizes[2] != self.robot.P or math.prod(sizes) != len(m.data) or not len(m.data) or not np.isfinite(m.data).all():
            self.get_logger().error(f"plans: layout.dim is {sizes} for {len(m.data)} finite numbers, must be plans, rows and the {self.robot.P} inputs {', '.join(self.model.inputs)}", throttle_duration_sec=5.0)
            return
        if not self.active or not self.robot.samples:
            return
        try:
            p = self.robot.predict_plans(np.reshape(m.data, sizes))
        except (ValueError, ArithmeticError) as e:
            self.get_logger().error(f"plans: {e}", throttle_duration_sec=5.0)
            return
        times = np.broadcast_to(p.times[:, np.newaxis], (sizes[0], len(p.times), 1))
        answer = output.table(np.concatenate([times, p.mean, p.std], axis=-1), ["t", *self.layout.columns], "plan,horizon")
        answer.layout.data_offset = m.layout.data_offset
        self.out["~/plans_prediction"].publish(answer)

    def on_message(self, s: mapping.Source, m: Any, received: int) -> None:
        """Takes a message that was received at a time of the computer's clock, ns."""
        began = time.perf_counter()
        if not s.accepts(m):
            return
        header = getattr(m, "header", None)
        stamp = 0 if header is None else header.stamp.sec * 10**9 + header.stamp.nanosec
        t = self.clock.seconds(stamp or received) if stamp or received and not self.setting("use_sim_time") else self.now()
        self.robot.update(t, s.read(m))
        if s is not self.base:
            return
        self.counts["states"] += 1
        if header is not None:
            self.frames = (header.frame_id, getattr(m, "child_frame_id", ""))
        reason = self.robot.sample(t)
        if not reason and self.active:
            if -1e-9 < t - self.last < self.period * 0.999:
                return
            self.last = t
            try:
                if self.adapts:
                    self.learn()
                p = self.robot.predict()
                if not (np.isfinite(p.mean).all() and np.isfinite(p.std).all()):
                    reason = "a prediction is not finite"
            except (ValueError, ArithmeticError) as e:
                reason = str(e)
        if reason:
            self.counts["rejected"] += 1
            self.reason = reason
        elif self.active:
            self.counts["predictions"] += 1
            self.counts["out of distribution"] += bool(p.out_of_distribution)
            self.publish(p)
            self.took.append(time.perf_counter() - began)

    def learn(self) -> None:
        try:
            self.model.learn(*self.robot.samples[-1])
        except NotImplementedError as e:
            self.adapts = False
            self.get_logger().warning(f"adapt: {e}")

    # What goes.

    def now(self) -> float:
        return self.clock.seconds(self.get_clock().now().nanoseconds)

    def publish(self, p: Any) -> None:
        t, x, _ = self.robot.samples[-1]
        covariance = self.robot.estimate.P
        ahead = max(0.0, self.now() - t)  # the age of the state, and the latency after it
        ahead = (ahead if ahead < self.model.horizon else 0.0) + self.latency
        soon, uncertain = output.at(ahead, x, covariance, p)
        frames = (self.setting("frame_id") or self.frames[0], self.frames[1])
        shown = np.unique(np.linspace(0, len(p.times) - 1, max(1, self.setting("points"))).astype(int))
        made: Dict[str, Callable[[], Any]] = {"~/prediction": lambda: self.layout.prediction(p)}  # what planners wait for first
        if self.layout.moves:
            made["~/odom_now"] = lambda: self.layout.odometry(t + ahead, soon, uncertain, frames)
            made["~/estimate"] = lambda: self.layout.odometry(t, x, covariance, frames)
            made["/tf"] = lambda: self.layout.transform(made["~/odom_now"]())
            made["~/predicted_path"] = lambda: self.layout.path(t, p, shown, frames[0])
            made["~/predicted_markers"] = lambda: self.layout.markers(t, p, shown, frames[0])
        else:
            made["~/state_now"] = lambda: self.layout.array(soon, uncertain)
            made["~/estimate"] = lambda: self.layout.array(x, covariance)
        made["~/tube"] = lambda: self.layout.tube(p)
        for topic, make in made.items():
            publisher = self.out.get(topic)
            if publisher is None or not publisher.get_subscription_count() or topic == "~/predicted_markers" and not self.drawn(t):
                continue
            m = make()
            if m is not None:
                publisher.publish(m)

    def drawn(self, t: float) -> bool:
        """Whether it is time to draw ellipses again."""
        if 0 <= t - self.painted < DRAWING:
            return False
        self.painted = t
        return True

    def diagnose(self) -> None:
        s = DiagnosticStatus(name="dgm: predictions", hardware_id=self.model.id)
        took, self.took = self.took, []
        items: Dict[str, str] = {k: str(v) for k, v in self.counts.items()}
        items["clock restarts"] = str(self.robot.restarts)
        if took:
            items["latency p50, ms"] = f"{1000 * float(np.median(took)):.2f}"
        if self.model.filtered:
            items["filter: NIS (1 = right)"] = f"{self.robot.nis:.2f}"
            items.update({f"filter: resets, {why}": str(n) for why, n in self.robot.resets.items()})
            items.update({f"filter: outliers, {n}": str(k) for n, k in zip(self.model.states, self.robot.outliers) if k})
        items.update({name: f"{value:.3g} ± {std:.2g} {unit}" for name, (value, std, unit) in (self.model.amounts if self.adapts else {}).items()})
        wrong = []
        for name, (share, n) in self.robot.coverage().items():
            if n:
                items[f"in 95 %: {name}"] = f"{100 * share:.1f} % of {n}"
            if n >= 200 and share < 0.8:
                wrong.append(name)
        s.level, s.message = DiagnosticStatus.OK, f"{len(took)} predictions in the last second"
        if wrong:
            s.level, s.message = DiagnosticStatus.WARN, f"the intervals of {', '.join(wrong)} do not hold"
        if not self.active:
            s.level, s.message = DiagnosticStatus.WARN, "not active"
        elif not took:
            s.level, s.message = DiagnosticStatus.ERROR, "no predictions: " + (self.reason or "no state was received")
        s.values = [KeyValue(key=k, value=v) for k, v in items.items()]
        out = DiagnosticArray(status=[s])
        out.header.stamp = self.get_clock().now().to_msg()
        self.diagnostics.publish(out)

