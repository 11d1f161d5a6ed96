"""The node dgm: states and commands in, distributions of the state to come out.

    python3 -m dgm_ros.predict --model flight.dgm --map map.toml
    ros2 run dgm_ros predict --ros-args -p model:=flight.dgm -p map:=map.toml

README.md has its topics and parameters.
"""

from __future__ import annotations

import argparse
import sys
from typing import Optional, Sequence

try:
    import rclpy
except ImportError as e:
    sys.exit(f"dgm_ros: {e}: source /opt/ros/<distribution>/setup.bash in the shell, and make a virtual environment with "
             "--system-site-packages; or pip install 'ros-kilted-rclpy[fastrtps]' and the messages: see python/ros/README.md")
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.utilities import remove_ros_args

from .node import Predictor


def main(args: Optional[Sequence[str]] = None) -> int:
    args = list(sys.argv if args is None else args)
    parser = argparse.ArgumentParser(prog="dgm_ros.predict", description="Predicts a robot's state from its topics.")
    parser.add_argument("--model", default="", help="model file of dgm-train")
    parser.add_argument("--map", default="", help="map file, the one that imported the recordings")
    own = parser.parse_args(remove_ros_args(args)[1:])
    rclpy.init(args=args)
    try:
        node = Predictor(own.model, own.map)
        if node.get_parameter("autostart").value:
            if node.trigger_configure() != TransitionCallbackReturn.SUCCESS:
                print(f"dgm_ros: {node.failure}", file=sys.stderr)
                return 1
            node.trigger_activate()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        while rclpy.ok():  # a wait without an end can miss the signal that ends it
            executor.spin_once(timeout_sec=0.5)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        if rclpy.ok():
            rclpy.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
