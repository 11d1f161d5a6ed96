"""Writes one small recording of each format, of one analytic flight, with writers that share no code with this
repository:

  flight.ulg      pyulog 1.3.0 (ULog.write_ulog)
  flight.BIN      pymavlink 2.4.50 (DFReader.DFMessage.get_msgbuf)
  flight.tlog     pymavlink 2.4.50 (mavutil's dialect ardupilotmega, MAVLink 2), each packet behind its time in µs
  flight.mcap     mcap 1.6.0 and mcap-ros2-support 0.6.0, chunks with zstd
  flight.log      Python's struct and zlib, by the description of the format in crazyflie-firmware, tools/usdlog
  flight.csv      Python's csv; flight.toml is its map

The expected columns (FILE.json and FILE.columns) are what the scripts *_columns.py of the readers' testdata print
of these files: they read them with the same modules, or, of flight.log, with struct.

Usage: python3 make.py, in this folder; then DGM_RECORD=1 go test ./bridge/... -run SameAs with the same Python.
"""
import csv, math, os, struct, zlib
from types import SimpleNamespace

SECONDS, RATE = 8, 50
START = 100_000_000  # µs, what the vehicle's clock shows


def motion(t):
    """The state at t (s) of a body that flies: position and velocity in ned, roll, pitch, yaw, body rates, motors."""
    x = [2 * math.sin(0.9 * t), 1.5 * math.cos(0.7 * t), -3 + 0.5 * math.sin(1.1 * t)]
    v = [1.8 * math.cos(0.9 * t), -1.05 * math.sin(0.7 * t), 0.55 * math.cos(1.1 * t)]
    e = [0.2 * math.sin(1.3 * t), 0.15 * math.cos(1.7 * t), 0.8 * math.sin(0.5 * t)]
    d = [0.26 * math.cos(1.3 * t), -0.255 * math.sin(1.7 * t), 0.4 * math.cos(0.5 * t)]
    (sr, cr), (sp, cp) = [(math.sin(a), math.cos(a)) for a in e[:2]]
    w = [d[0] - sp * d[2], cr * d[1] + sr * cp * d[2], -sr * d[1] + cr * cp * d[2]]
    m = [0.5 + 0.1 * math.sin(2 * t + k) for k in range(4)]
    return SimpleNamespace(x=x, v=v, e=e, w=w, m=m)


def quaternion(e):
    (sr, cr), (sp, cp), (sy, cy) = [(math.sin(a / 2), math.cos(a / 2)) for a in e]
    return [cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy]


STEPS = [(k, START + k * 1_000_000 // RATE, motion(k / RATE)) for k in range(SECONDS * RATE)]


def ulg():
    import numpy
    from pyulog import ULog

    log = ULog(None)
    log._file_version, log._start_timestamp, log._last_timestamp = 1, START, STEPS[-1][1]
    log._msg_info_dict, log._msg_info_dict_types = {"sys_name": "PX4"}, {"sys_name": "char[3]"}
    log._initial_parameters = {"SYS_AUTOSTART": 4001, "MPC_XY_P": 0.949999988079071}

    def topic(name, id, every, fields, row):
        rows = [(us, *row(m)) for k, us, m in STEPS if k % every == 0]
        names = [("uint64_t", 0, "timestamp")] + fields
        log._message_formats[name] = ULog.MessageFormat.__new__(ULog.MessageFormat)
        log._message_formats[name].name, log._message_formats[name].fields = name, names
        data = ULog.Data.__new__(ULog.Data)
        data.name, data.multi_id, data.msg_id, data.timestamp_idx, data.data, data.field_data = name, 0, id, 0, {}, []
        columns, at = list(zip(*rows)), 0
        for kind, size, field in names:
            for i in range(max(1, size)):
                path = f"{field}[{i}]" if size else field
                data.data[path] = numpy.array(columns[at], dtype=ULog._UNPACK_TYPES[kind][2])
                data.field_data.append(ULog._FieldData(path, kind))
                at += 1
        log._data_list.append(data)

    f = lambda *names: [("float", 0, n) for n in names]
    topic("vehicle_local_position", 0, 2, f("x", "y", "z", "vx", "vy", "vz"), lambda m: m.x + m.v)
    topic("vehicle_attitude", 1, 1, [("float", 4, "q")], lambda m: quaternion(m.e))
    topic("vehicle_angular_velocity", 2, 1, [("float", 3, "xyz")], lambda m: m.w)
    topic("actuator_motors", 3, 2, [("float", 4, "control")], lambda m: m.m)
    topic("vehicle_status", 4, 25, [("uint8_t", 0, "arming_state"), ("int8_t", 0, "delta")], lambda m: (2, -1))
    topic("vehicle_land_detected", 6, 50, [("bool", 0, "landed")], lambda m: (0,))
    topic("battery_status", 5, 50, [("double", 0, "voltage_v"), ("int32_t", 0, "charge"), ("bool", 0, "warning")], lambda m: (11.8, -70000, 1))
    log.write_ulog("flight.ulg")


def dataflash():
    from pymavlink import DFReader

    fmt, out = {}, open("flight.BIN", "wb")

    def define(id, name, kinds, columns):
        fmt[name] = DFReader.DFFormat(id, name, 3 + sum(struct.calcsize("<" + DFReader.FORMAT_TO_STRUCT[k][0]) for k in kinds), kinds, columns)
        put("FMT", id, fmt[name].len, name, kinds, columns)

    def put(name, *values):
        if name == "FMT" and "FMT" not in fmt:
            fmt[name] = DFReader.DFFormat(128, "FMT", 89, "BBnNZ", "Type,Length,Name,Format,Columns")
        values = [v.encode() if isinstance(v, str) else v for v in values]
        out.write(DFReader.DFMessage(fmt[name], values, True, None).get_msgbuf())

    define(128, "FMT", "BBnNZ", "Type,Length,Name,Format,Columns")
    define(129, "UNIT", "QbZ", "TimeUS,Id,Label")
    define(130, "MULT", "Qbd", "TimeUS,Id,Mult")
    define(131, "FMTU", "QBNN", "TimeUS,FmtType,UnitIds,MultIds")
    for letter, label in {"s": "s", "d": "deg", "m": "m", "n": "m/s", "E": "rad/s", "Y": "us", "v": "V", "#": "instance"}.items():
        put("UNIT", START, ord(letter), label)
    for letter, factor in {"F": 1e-6, "B": 1e-2, "0": 1.0, "-": 0.0}.items():
        put("MULT", START, ord(letter), factor)
    define(140, "XKF1", "QBffffff", "TimeUS,C,VN,VE,VD,PN,PE,PD")
    define(141, "XKQ", "QBffff", "TimeUS,C,Q1,Q2,Q3,Q4")
    define(142, "IMU", "QBfff", "TimeUS,I,GyrX,GyrY,GyrZ")
    define(143, "RCOU", "QHHHH", "TimeUS,C1,C2,C3,C4")
    define(144, "ARM", "QBI", "TimeUS,ArmState,ArmChecks")
    define(145, "EV", "QB", "TimeUS,Id")
    define(146, "ATT", "QccC", "TimeUS,Roll,Pitch,Yaw")
    define(147, "PARM", "QNf", "TimeUS,Name,Value")
    define(148, "MSG", "QZ", "TimeUS,Message")
    for id, units, factors in [(140, "s#nnnmmm", "F-000000"), (141, "s#----", "F-0000"), (142, "s#EEE", "F-000"), (143, "sYYYY", "F----"), (146, "sddd", "FBBB")]:
        put("FMTU", START, id, units, factors)
    put("PARM", START, "ATC_RAT_RLL_P", 0.125)
    put("MSG", START, "ArduCopter V4.5.7")
    for k, us, m in STEPS:
        if k == 50:
            put("ARM", us, 1, 0)
            put("EV", us, 28)
        if k == 350:
            put("EV", us, 18)
            put("ARM", us, 0, 0)
        put("IMU", us, 0, *m.w)
        put("IMU", us, 1, *[w + 0.1 for w in m.w])
        if k % 2 == 0:
            put("XKF1", us, 0, *m.v, *m.x)
            put("XKQ", us, 0, *quaternion(m.e))
            put("RCOU", us, *[int(1000 + 1000 * u) for u in m.m])
            put("ATT", us, *[round(math.degrees(a) * 100) for a in (m.e[0], m.e[1], m.e[2] % (2 * math.pi))])
    out.close()


def tlog():
    from pymavlink.dialects.v20 import ardupilotmega as mavlink

    unix, out = 1_700_000_000_000_000, open("flight.tlog", "wb")
    mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)

    def put(us, delay, m):
        out.write(struct.pack(">Q", unix + us + delay) + m.pack(mav))

    for k, us, m in STEPS:
        ms = us // 1000
        if k % 50 == 0:
            mode = 128 if 50 <= k < 350 else 0
            put(us, 900, mavlink.MAVLink_heartbeat_message(2, 3, mode, 4, 4, 3))
            put(us, 1000, mavlink.MAVLink_sys_status_message(0, 0, 0, 120, 11800, 400, 80, 0, 0, 0, 0, 0, 0))
        if k == 50:
            put(us, 1100, mavlink.MAVLink_statustext_message(6, b"Arming motors"))
        put(us, 1200 + 37 * (k % 7), mavlink.MAVLink_attitude_message(ms, *m.e, *m.w))
        if k % 2 == 0:
            put(us, 1300 + 41 * (k % 5), mavlink.MAVLink_local_position_ned_message(ms, *m.x, *m.v))
            put(us, 1400, mavlink.MAVLink_servo_output_raw_message(us & 0xFFFFFFFF, 0, *[int(1000 + 1000 * u) for u in m.m], 0, 0, 0, 0))
    out.close()


HEADER = "builtin_interfaces/Time stamp\nstring frame_id\n"
TIME = "int32 sec\nuint32 nanosec\n"
VECTOR = "float64 x\nfloat64 y\nfloat64 z\n"
SEPARATOR = "=" * 80 + "\nMSG: "


def mcap():
    from mcap_ros2.writer import Writer

    with open("flight.mcap", "wb") as out:
        w = Writer(out, chunk_size=16 << 10)
        odometry = w.register_msgdef("nav_msgs/msg/Odometry", "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist\n" + "".join(SEPARATOR + name + "\n" + text for name, text in [
            ("std_msgs/Header", HEADER), ("builtin_interfaces/Time", TIME), ("geometry_msgs/PoseWithCovariance", "Pose pose\nfloat64[36] covariance\n"),
            ("geometry_msgs/TwistWithCovariance", "Twist twist\nfloat64[36] covariance\n"), ("geometry_msgs/Pose", "Point position\nQuaternion orientation\n"),
            ("geometry_msgs/Twist", "Vector3 linear\nVector3 angular\n"), ("geometry_msgs/Point", VECTOR), ("geometry_msgs/Vector3", VECTOR), ("geometry_msgs/Quaternion", VECTOR + "float64 w\n")]))
        twist = w.register_msgdef("geometry_msgs/msg/Twist", "Vector3 linear\nVector3 angular\n" + SEPARATOR + "geometry_msgs/Vector3\n" + VECTOR)
        joints = w.register_msgdef("sensor_msgs/msg/JointState", "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n" + SEPARATOR + "std_msgs/Header\n" + HEADER + SEPARATOR + "builtin_interfaces/Time\n" + TIME)
        vector = lambda v: dict(zip("xyz", v))
        for k, us, m in STEPS:
            log = 1_700_000_000_000_000_000 + 1000 * us
            header = {"stamp": {"sec": log // 10**9, "nanosec": log % 10**9}, "frame_id": "odom"}
            enu = SimpleNamespace(x=[m.x[1], m.x[0], -m.x[2]], v=[m.v[1], m.v[0], -m.v[2]], e=[m.e[0], -m.e[1], math.pi / 2 - m.e[2]], w=[m.w[0], -m.w[1], -m.w[2]])
            q = quaternion(enu.e)
            (sr, cr), (sp, cp), (sy, cy) = [(math.sin(a), math.cos(a)) for a in enu.e]
            body = [sum(r * v for r, v in zip(row, enu.v)) for row in [
                (cp * cy, cp * sy, -sp), (sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, sr * cp), (cr * sp * cy + sr * sy, cr * sp * sy - sr * cy, cr * cp)]]
            if k % 2 == 0:
                w.write_message("/odom", odometry, {"header": header, "child_frame_id": "base", "pose": {"pose": {"position": vector(enu.x), "orientation": vector(q[1:]) | {"w": q[0]}}, "covariance": [0.0] * 36},
                    "twist": {"twist": {"linear": vector(body), "angular": vector(enu.w)}, "covariance": [0.0] * 36}}, log_time=log + 1_000_000, publish_time=log)
            if k % 5 == 0:
                w.write_message("/cmd_vel", twist, {"linear": vector([m.m[0], 0.0, 0.0]), "angular": vector([0.0, 0.0, m.m[1]])}, log_time=log + 2_000_000, publish_time=log)
                w.write_message("/joint_states", joints, {"header": header, "name": ["a", "b"], "position": m.x[:2], "velocity": m.v[:2], "effort": m.m[:2]}, log_time=log + 3_000_000, publish_time=log)
        w.finish()


def crazyflie():
    names = [f"stateEstimate.{n}(f)" for n in ("x", "y", "z", "vx", "vy", "vz", "qw", "qx", "qy", "qz")] + ["gyro.x(f)", "gyro.y(f)", "gyro.z(f)"] + [f"motor.m{i}(H)" for i in range(1, 5)] + ["pm.vbat(e)", "sys.isFlying(B)"]
    text = lambda s: s.encode() + b"\0"
    b = struct.pack("<BHH", 0xBC, 2, 2)
    for id, name, variables in [(0, "fixedFrequency", names), (1, "estTDOA", ["idA(b)", "tdoa(d)"])]:
        b += struct.pack("<H", id) + text(name) + struct.pack("<H", len(variables)) + b"".join(map(text, variables))
    for k, us, m in STEPS:
        enu = SimpleNamespace(x=[m.x[0], -m.x[1], -m.x[2]], v=[m.v[0], -m.v[1], -m.v[2]], e=[m.e[0], -m.e[1], -m.e[2]], w=[m.w[0], -m.w[1], -m.w[2]])
        b += struct.pack("<HQ13f4HeB", 0, us, *enu.x, *enu.v, *quaternion(enu.e), *[math.degrees(w) for w in enu.w], *[int(65535 * u) for u in m.m], 3.9, 50 <= k < 350)
        if k % 10 == 0:
            b += struct.pack("<HQbd", 1, us + 7, -3, m.x[0])
    open("flight.log", "wb").write(b + struct.pack("<I", zlib.crc32(b)))


def table():
    with open("flight.csv", "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow("run t qw qx qy qz x vx roll motor volt".split())
        for k, us, m in STEPS:
            part = k // 150 + 1
            row = [part, f"{us // 10**6}.{us % 10**6:06d}", *map(repr, quaternion(m.e)), repr(m.x[0]), repr(m.v[0]), f"{math.degrees(m.e[0]):.6f}", f"{65535 * m.m[0]:.0f}", "11.80"]
            if k == 77:
                row[6] = "nan"
            w.writerow(row)
            if k == 99:
                w.writerow(row)  # a repeated time


if __name__ == "__main__":
    os.environ["MAVLINK20"] = "1"
    for write in (ulg, dataflash, tlog, mcap, crazyflie, table):
        write()
