"""A node of ROS 2 that predicts a robot's state: see predict."""
