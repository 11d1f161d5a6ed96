package mcap_test

// The definitions of ROS 2's messages, as rosbag2 writes them into a file.

const sep = "================================================================================\n"

const headerMsg = sep + `MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
` + sep + `MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
`

const odometryMsg = `std_msgs/Header header
string child_frame_id
geometry_msgs/PoseWithCovariance pose
geometry_msgs/TwistWithCovariance twist
` + headerMsg + sep + `MSG: geometry_msgs/PoseWithCovariance
Pose pose
float64[36] covariance
` + sep + `MSG: geometry_msgs/Pose
Point position
Quaternion orientation
` + sep + `MSG: geometry_msgs/Point
float64 x
float64 y
float64 z
` + sep + `MSG: geometry_msgs/Quaternion
float64 x 0
float64 y 0
float64 z 0
float64 w 1
` + sep + `MSG: geometry_msgs/TwistWithCovariance
Twist twist
float64[36] covariance
` + twistMsg

const twistMsg = sep + `MSG: geometry_msgs/Twist
Vector3  linear
Vector3  angular
` + sep + `MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
`

const plainTwistMsg = `Vector3  linear
Vector3  angular
` + sep + `MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
`

const jointStateMsg = `std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
` + headerMsg

const odometryIDL = sep + `IDL: nav_msgs/msg/Odometry
module nav_msgs { module msg { struct Odometry {
  std_msgs::msg::Header header;
  string child_frame_id;
  geometry_msgs::msg::PoseWithCovariance pose;
  geometry_msgs::msg::TwistWithCovariance twist;
}; }; };
` + sep + `IDL: std_msgs/msg/Header
module std_msgs { module msg { struct Header { builtin_interfaces::msg::Time stamp; string frame_id; }; }; };
` + sep + `IDL: builtin_interfaces/msg/Time
module builtin_interfaces { module msg { struct Time { int32 sec; uint32 nanosec; }; }; };
` + sep + `IDL: geometry_msgs/msg/PoseWithCovariance
module geometry_msgs { module msg {
  typedef double double__36[36];
  struct PoseWithCovariance { geometry_msgs::msg::Pose pose; double__36 covariance; };
}; };
` + sep + `IDL: geometry_msgs/msg/Pose
module geometry_msgs { module msg { struct Pose { geometry_msgs::msg::Point position; geometry_msgs::msg::Quaternion orientation; }; }; };
` + sep + `IDL: geometry_msgs/msg/Point
module geometry_msgs { module msg { struct Point { double x; double y; double z; }; }; };
` + sep + `IDL: geometry_msgs/msg/Quaternion
module geometry_msgs { module msg { struct Quaternion { @default (value=0.0) double x; double y; double z; @default (value=1.0) double w; }; }; };
` + sep + `IDL: geometry_msgs/msg/TwistWithCovariance
module geometry_msgs { module msg {
  typedef double double__36[36];
  struct TwistWithCovariance { geometry_msgs::msg::Twist twist; double__36 covariance; };
}; };
` + sep + `IDL: geometry_msgs/msg/Twist
module geometry_msgs { module msg { struct Twist { geometry_msgs::msg::Vector3 linear; geometry_msgs::msg::Vector3 angular; }; }; };
` + sep + `IDL: geometry_msgs/msg/Vector3
module geometry_msgs { module msg { struct Vector3 { double x; double y; double z; }; }; };
`

const ackermannMsg = `std_msgs/Header header
ackermann_msgs/AckermannDrive drive
` + headerMsg + sep + `MSG: ackermann_msgs/AckermannDrive
float32 steering_angle
float32 steering_angle_velocity
float32 speed
float32 acceleration
float32 jerk
`
