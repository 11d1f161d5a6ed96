"""A robot's side in ROS 2: sends what is on /joint_states to an estimator over NATS, and publishes what it predicts.

    pip install './python[queries]'          # beside rclpy
    dgm-estimator --model arm.dgm --vehicle arm
    python3 robot.py [nats://127.0.0.1:4222] [arm] [joint ...]

Without names it sends the joints in the order of the message: positions, then velocities, as `dgm-bridge import mcap` has them
from a recording of the same topic. dgm_ros (python/ros) predicts in the node's own process, from any type of message, without NATS.
"""

import asyncio
import sys
import threading

import dgm
import nats
import rclpy
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray


async def main():
    url, vehicle = (sys.argv[1:3] + ["nats://127.0.0.1:4222", "arm"][len(sys.argv[1:3]) :])
    names = sys.argv[3:]
    rclpy.init()
    node = rclpy.create_node("dgm_robot")
    out = node.create_publisher(Float64MultiArray, "~/prediction", 10)  # mean, then standard deviation, at the end of the horizon
    robot, loop = dgm.Live(await nats.connect(url), vehicle), asyncio.get_running_loop()

    def send(m):
        order = [m.name.index(n) for n in names or m.name]  # drivers may change the order
        x = [m.position[i] for i in order] + [m.velocity[i] for i in order if m.velocity]
        t = m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec  # when it was measured
        asyncio.run_coroutine_threadsafe(robot.send(x, t=t), loop)

    node.create_subscription(JointState, "/joint_states", send, qos_profile_sensor_data)
    predictions = await robot.predictions()
    threading.Thread(target=rclpy.spin, args=(node,), daemon=True).start()
    print(f"sends /joint_states to {vehicle} at {url}", flush=True)
    async for p in predictions:
        out.publish(Float64MultiArray(data=[*map(float, p.mean[-1]), *map(float, p.std[-1])]))


asyncio.run(main())
