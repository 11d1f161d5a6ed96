"""The node dgm: from the topics of a map to predictions, through the states of a lifecycle."""

from __future__ import annotations

import functools
import importlib
import math
import time
from typing import Any, Callable, Dict, List, NamedTuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from nav_msgs.msg import Odometry, Path
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn
from rclpy.qos import qos_profile_sensor_data
from rclpy.subscription import Subscription
from std_msgs.msg import Float64MultiArray

try:
    from rclpy.event_handler import PublisherEventCallbacks
except ImportError:  # ROS before Jazzy
    from rclpy.qos_event import PublisherEventCallbacks

import dgm

from . import mapping, output, stream
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
    "nats": ("", "server of a dgm-estimator that predicts in place of the node, as nats://127.0.0.1:4222; empty = the node predicts"),
    "vehicle": ("robot", "with nats: the vehicle that the estimator serves"),
    "adapt": (False, "learn what has changed of the robot, and correct predictions by it"),
    "tf": (False, "publish odom_now on /tf too, as the child frame with _predicted after its name; needs tf2_msgs"),
}
QUIET = PublisherEventCallbacks(use_default_callbacks=False)  # each event is waited for at each message; a subscriber with other QoS is told by its own node
TIMED = hasattr(Subscription, "CallbackType")  # whether rclpy says when a message was received: that of Humble does not
KINDS = {float: "a number", bool: "true or false", str: "text", int: "a whole number"}
OF_ROS = ("use_sim_time", "start_type_description_service")  # parameters of every node
Start = NamedTuple("Start", [("t", float), ("x", Any), ("P", Any), ("began", float)])  # of a prediction: the state (K) at t, s, its covariance, and the time of its receipt
DRAWING = 0.1  # s between two sets of ellipses, which cost more than all the rest


class Predictor(LifecycleNode):
    """Predicts at each state while it is active."""

    def __init__(self, model: str = "", map_: str = ""):
        super().__init__("dgm", automatically_declare_parameters_from_overrides=True)
        given = {"model": model, "map": map_}
        for name, (value, text) in PARAMETERS.items():
            described = ParameterDescriptor(description=text, dynamic_typing=True)  # an integer is a number, too: setting converts
            if self.has_parameter(name):
                self.set_descriptor(name, described)
            else:
                self.declare_parameter(name, given.get(name) or value, described)
        self.failure = ""  # why the node could not be configured
        self.active = False
        self.diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 1)  # of a node that is not active, too
        self._made: List[Callable[[], Any]] = []  # what cleanup undoes

    def setting(self, name: str) -> Any:
        """The value of a parameter. ValueError where it has the type of another."""
        value, kind = self.get_parameter(name).value, type(PARAMETERS[name][0])
        if kind is float and type(value) is int:
            return float(value)
        if type(value) is not kind:
            raise ValueError(f"{name}: is {value!r}, must be {KINDS[kind]}: {PARAMETERS[name][1]}")
        return value

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
        for name in PARAMETERS:
            self.setting(name)  # of a wrong type, it says so
        model, map_, latency = self.setting("model"), self.setting("map"), self.setting("latency")
        unknown = [n for n in self.get_parameters_by_prefix("") if n not in PARAMETERS and n not in OF_ROS and not n.startswith("qos_overrides.")]
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: unknown parameters; the node has {', '.join(PARAMETERS)}")
        if not model or not map_:
            raise ValueError("model and map: both are needed: --model flight.dgm --map map.toml")
        self.model = dgm.Model.load(model)
        self._made.append(self.model.close)
        self.latency = max((dead + lag for dead, lag in self.model.latency.values()), default=0.0) if latency < 0 else latency
        self.period = 1 / self.setting("rate") if self.setting("rate") > 0 else 0.0
        self.adapts = self.setting("adapt")
        if self.adapts and self.setting("nats"):
            raise ValueError("adapt: with nats it is the estimator that adapts: dgm-estimator --adapt on")
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
        self.stream = self._stream(self.setting("nats")) if self.setting("nats") else None
        self.subscribe()
        filtered = f", with a filter that estimates {', '.join(self.model.estimated) or 'them from what is measured'}" if self.model.filtered else ""
        self.get_logger().info(f"{model}: predicts {', '.join(self.model.states)} {self.model.horizon:g} s ahead{filtered}; commands act after {1000 * self.latency:.0f} ms")

    def _stream(self, url: str) -> stream.Stream:
        came = self.create_guard_condition(self.on_predictions)
        self._made.append(lambda: self.destroy_guard_condition(came))
        made = stream.Stream(url, self.setting("vehicle"), came.trigger)
        self._made.append(made.close)
        return made

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
        made = self.create_lifecycle_publisher(kind, topic, 10, event_callbacks=QUIET)
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
            timed, untimed = lambda m, info, s=s: self.on_message(s, m, info["received_timestamp"]), lambda m, s=s: self.on_message(s, m, 0)
            self._subscribe(message, s.topic, timed if TIMED else untimed, qos_profile_sensor_data)
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
        """Takes a message that was received at a time of the computer's clock, ns; 0 = not known."""
        began = time.perf_counter()
        if not s.accepts(m):
            return
        header = getattr(m, "header", None)
        stamp = 0 if header is None else header.stamp.sec * 10**9 + header.stamp.nanosec
        t = self.clock.seconds(stamp or received) if stamp or received and not self.get_parameter("use_sim_time").value else self.now()
        values = s.read(m)
        self.robot.update(t, values)
        if s is not self.base:
            if self.stream and self.active and self.model.filtered and min(s.getters) < self.robot.K:
                self.stream.measure(self.clock.ns(t), self.robot.measured(values), s.topic)
            return
        self.counts["states"] += 1
        if header is not None:
            self.frames = (header.frame_id, getattr(m, "child_frame_id", ""))
        reason = self.robot.sample(t)
        if reason:
            self.reject(reason)
        elif self.active and self.stream:
            self.ask(t, values, s.topic, self.start(began))
        elif self.active and self.due(t):
            try:
                if self.adapts:
                    self.learn()
                self.publish(self.robot.predict(), self.start(began))
            except (ValueError, ArithmeticError) as e:
                self.reject(str(e))

    def due(self, t: float) -> bool:
        """Reports whether a prediction from t is wanted, by the parameter rate."""
        if -1e-9 < t - self.last < self.period * 0.999:
            return False
        self.last = t
        return True

    def start(self, began: float) -> Start:
        t, x, _ = self.robot.samples[-1]
        return Start(t, x, self.robot.estimate.P, began)

    def reject(self, reason: str) -> None:
        self.counts["rejected"] += 1
        self.reason = reason

    def ask(self, t: float, values: Dict[int, float], topic: str, start: Start) -> None:
        """Sends the newest sample to the estimator: what was measured at t, which its filter reads, or the state."""
        inputs: Dict[str, Any] = {}
        if self.robot.P:
            inputs["u"], plan = self.robot.samples[-1][2], self.robot.planned(start.t)
            if plan is not None:
                inputs.update(plan=plan, plan_dt=self.model.horizon / len(plan))
        several = self.model.filtered and sum(min(s.getters) < self.robot.K for s in self.sources) > 1
        self.stream.ask(self.clock.ns(t), self.robot.measured(values) if self.model.filtered else start.x, start, topic if several else "", **inputs)

    def on_predictions(self) -> None:
        """Publishes what the estimator has predicted."""
        for p, after, start in self.stream.take() if self.stream else []:
            if list(p.channels) != list(self.model.states):
                self.reject(f"the estimator of {self.stream.vehicle} predicts {', '.join(p.channels)}, the model of the node {', '.join(self.model.states)}: give both the same model")
            elif self.now() > start.t + after + p.valid_until - p.t:
                self.reject("a prediction of the estimator came after the end of its validity")
            elif self.active and self.due(start.t + after):
                answer = stream.prediction(p)
                self.robot.expect(start.t + after, answer)
                self.publish(answer, start._replace(t=start.t + after))

    def learn(self) -> None:
        try:
            self.model.learn(*self.robot.samples[-1])
        except NotImplementedError as e:
            self.adapts = False
            self.get_logger().warning(f"adapt: {e}")

    # What goes.

    def now(self) -> float:
        return self.clock.seconds(self.get_clock().now().nanoseconds)

    def ahead(self, t: float) -> float:
        """Seconds from a state at t until a command that is sent now acts: its age, and the latency after it."""
        age = max(0.0, self.now() - t)
        return min((age if age < self.model.horizon else 0.0) + self.latency, self.model.horizon)

    def send(self, made: Dict[str, Callable[[], Any]]) -> None:
        """Publishes what somebody hears, in the order given."""
        for topic, make in made.items():
            m = make() if topic in self.out and self.out[topic].get_subscription_count() else None
            if m is not None:
                self.out[topic].publish(m)

    def publish(self, p: Any, start: Start) -> None:
        """Publishes a prediction from a start, unless it is not finite: first what a controller waits for, then what planners do."""
        if not (np.isfinite(p.mean).all() and np.isfinite(p.std).all()):
            return self.reject("a prediction is not finite")
        self.counts["predictions"] += 1
        self.counts["out of distribution"] += bool(p.out_of_distribution)
        t, x, covariance, began = start
        ahead, layout = self.ahead(t), self.layout
        soon = functools.cache(lambda: output.at(ahead, x, covariance, p))
        shown = functools.cache(lambda: np.unique(np.linspace(0, len(p.times) - 1, max(1, self.setting("points"))).astype(int)))
        frames = (self.setting("frame_id") or self.frames[0], self.frames[1])
        now = functools.cache(lambda: layout.odometry(t + ahead, *soon(), frames))
        if layout.moves:
            self.send({"~/odom_now": now, "/tf": lambda: layout.transform(now()), "~/prediction": lambda: layout.prediction(p), "~/estimate": lambda: layout.odometry(t, x, covariance, frames)})
            self.send({"~/predicted_path": lambda: layout.path(t, p, shown(), frames[0]), "~/predicted_markers": lambda: layout.markers(t, p, shown(), frames[0]) if self.drawn(t) else None})
        else:
            self.send({"~/state_now": lambda: layout.array(*soon()), "~/prediction": lambda: layout.prediction(p), "~/estimate": lambda: layout.array(x, covariance)})
        self.send({"~/tube": lambda: layout.tube(p)})
        self.took.append(time.perf_counter() - began)

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
        if self.stream:
            items["sent to the estimator"] = str(self.stream.sent)
            self.reason = self.stream.silence() or self.reason
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
            s.level, s.message = DiagnosticStatus.WARN, f"the 95 % intervals of {', '.join(wrong)} cover less than 80 %"
        if not self.active:
            s.level, s.message = DiagnosticStatus.WARN, "not active"
        elif not took:
            s.level, s.message = DiagnosticStatus.ERROR, "no predictions: " + (self.reason or "no state was received")
        s.values = [KeyValue(key=k, value=v) for k, v in items.items()]
        out = DiagnosticArray(status=[s])
        out.header.stamp = self.get_clock().now().to_msg()
        self.diagnostics.publish(out)

