"""ros2 launch dgm_ros predict.launch.py model:=flight.dgm map:=map.toml"""
import os

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    settings = os.path.join(get_package_share_directory("dgm_ros"), "config", "predict.yaml")
    return LaunchDescription([
        DeclareLaunchArgument("model", description="model file of dgm-train"),
        DeclareLaunchArgument("map", description="map file, the one that imported the recordings"),
        Node(package="dgm_ros", executable="predict", name="dgm", output="screen",
             parameters=[settings, {"model": LaunchConfiguration("model"), "map": LaunchConfiguration("map")}]),
    ])
