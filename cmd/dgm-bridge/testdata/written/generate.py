"""Writes small recordings with writers that share no code with this repository, and what must come of them:

  drive.mcap, small.mcap   rosbags 0.11.9 (ROS 2, messages packed with zstd) and mcap 1.6.0 (no chunks)
  drive.db3                rosbags 0.11.9 (ROS 2 in SQLite)
  drive.bag                rosbags 0.11.9 (ROS 1, chunks with bz2)
  two.tlog                 pymavlink 2.4.50: MAVLink 1, 2 and signed packets, two vehicles, a camera
  kinds.BIN                Python's struct, by ArduPilot's libraries/AP_Logger/README.md: every kind of field
  kinds.ulg                pyulog 1.3.0 (ULog.write_ulog): every kind of field, two instances
  pandas-*.csv             pandas 3.1.1

Beside each is FILE.rows.csv: the segment, the time (us since the first row) and the channels of all rows that the
import must have, from what was written; empty is not measured.

Usage: python3 generate.py, in this folder.
"""
import csv, math, os, shutil, sqlite3, struct, sys

import numpy as np

N, STEP = 100, 20_000  # rows, us
START = 1_700_000_000_000_000  # us


def drive(k):
    """The k-th state of a robot with two wheels: x, y, yaw, the wheels' angles, their rates."""
    t = k / 50
    yaw = 0.9 * math.sin(1.1 * t)
    return dict(x=0.4 * t + 0.1 * math.sin(2 * t), y=0.3 * math.cos(1.3 * t), yaw=yaw, left=3 * t + math.sin(t), right=2 * t - 0.5 * math.sin(3 * t),
                left_rate=3 + math.cos(t), right_rate=2 - 1.5 * math.cos(3 * t))


def command(k):
    """What was commanded last before the k-th state: every fifth state is followed by a command."""
    j = (k - 1) // 5
    return 0.4 + 0.05 * math.sin(j), -0.1 * j


def rows(file, table, segments=None):
    """Writes what must come of a file: a list of rows of names and values."""
    with open(file + ".rows.csv", "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        names = list(table[0])
        w.writerow(["segment"] + names)
        for i, r in enumerate(table):
            w.writerow([segments[i] if segments else 0] + ["" if v is None or v != v else repr(float(v)) if n != "t_us" else int(v) for n, v in r.items()])


def driven():
    return [dict(t_us=k * STEP, **drive(k), v=command(k)[0], turn=command(k)[1]) for k in range(N)]


def notes(types, ros1=False):
    """The messages of the drive: topic, type, time of recording (ns), message."""
    at = lambda t, name: types[f"{t}/msg/{name}"]
    Time, Header, Vector = at("builtin_interfaces", "Time"), at("std_msgs", "Header"), at("geometry_msgs", "Vector3")

    def header(ns, frame, seq):
        stamp = Time(sec=ns // 10**9, nanosec=ns % 10**9)
        return Header(seq=seq, stamp=stamp, frame_id=frame) if ros1 else Header(stamp=stamp, frame_id=frame)

    def twist(j):
        v, turn = command(5 * j + 1)
        return at("geometry_msgs", "Twist")(linear=Vector(x=v, y=0.0, z=0.0), angular=Vector(x=0.0, y=0.0, z=turn))

    yield "/cmd_vel", "geometry_msgs/msg/Twist", START * 1000 - 5_000_000, twist(-1)
    for k in range(N):
        ns, d = (START + k * STEP) * 1000, drive(k)
        pose = at("geometry_msgs", "Pose")(position=at("geometry_msgs", "Point")(x=d["x"], y=d["y"], z=0.0),
                                           orientation=at("geometry_msgs", "Quaternion")(x=0.0, y=0.0, z=math.sin(d["yaw"] / 2), w=math.cos(d["yaw"] / 2)))
        yield "/pose", "geometry_msgs/msg/PoseStamped", ns + 2_000_000, at("geometry_msgs", "PoseStamped")(header=header(ns, "map", k), pose=pose)
        names = ["left", "right"] if k % 3 else ["right", "left"]
        yield "/joint_states", "sensor_msgs/msg/JointState", ns + 2_000_000, at("sensor_msgs", "JointState")(
            header=header(ns, "", k), name=names, position=np.array([d[n] for n in names]), velocity=np.array([d[n + "_rate"] for n in names]), effort=np.array([]))
        if k % 5 == 0:
            yield "/cmd_vel", "geometry_msgs/msg/Twist", ns + 3_000_000, twist(k // 5)


def ros2():
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    for name, plugin in (("drive.mcap", StoragePlugin.MCAP), ("drive.db3", StoragePlugin.SQLITE3)):
        shutil.rmtree("bag", ignore_errors=True)
        w = Writer("bag", version=9, storage_plugin=plugin)
        if plugin is StoragePlugin.MCAP:
            w.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        connections = {}
        with w:
            for topic, kind, ns, m in notes(store.types):
                if name == "drive.db3" and ns > (START + 29 * STEP) * 1000 + 2_000_000:
                    break
                if topic not in connections:
                    connections[topic] = w.add_connection(topic, kind, typestore=store)
                w.write(connections[topic], ns, store.serialize_cdr(m, kind))
        shutil.move(next(os.path.join("bag", f) for f in os.listdir("bag") if not f.endswith("yaml")), name)
        shutil.rmtree("bag")
        if name == "drive.db3":
            with sqlite3.connect(name, isolation_level=None) as db:  # smaller
                db.execute("PRAGMA page_size = 1024")
                db.execute("VACUUM")
        rows(name, driven()[:30 if name == "drive.db3" else N])


def ros1():
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    if os.path.exists("drive.bag"):
        os.remove("drive.bag")
    w = Writer("drive.bag")
    w.set_compression(Writer.CompressionFormat.BZ2)
    connections = {}
    with w:
        for topic, kind, ns, m in notes(store.types, True):
            if topic not in connections:
                connections[topic] = w.add_connection(topic, kind, typestore=store)
            w.write(connections[topic], ns, store.serialize_ros1(m, kind))
    rows("drive.bag", driven())


def small():
    """Messages of a type of its own, with a bounded array, a bool, small integers and text, big-endian, without chunks."""
    from mcap.writer import CompressionType, Writer

    with open("small.mcap", "wb") as out:
        w = Writer(out, use_chunking=False, compression=CompressionType.NONE)
        w.start(profile="ros2", library="own")
        schema = w.register_schema("own_msgs/msg/Leg", "ros2msg", b"uint8 MOST=3\nuint8 id\nstring<=8 label\nbool down\nint16 raw\nfloat32[<=3] angles\nint64 count\nfloat32[2] fixed\nwstring wide\n")
        channel = w.register_channel("/leg", "cdr", schema)
        table = []
        for k in range(N):
            us = START + k * STEP
            angles = [np.float32(math.sin(0.05 * k + i)) for i in range(3)]
            b, label = bytearray(b"\0\0\0\0"), b"leg" + b"x" * (k % 4) + b"\0"

            def put(kind, *values):
                size = struct.calcsize(">" + kind[-1])
                while (len(b) - 4) % size:
                    b.append(0)
                b.extend(struct.pack(">" + kind, *values))

            put("B", 7)
            put("I", len(label))
            b.extend(label)
            put("?", k % 2 == 0)
            put("h", -300 * (k - 50))
            put("I", 3)
            put("3f", *angles)
            put("q", 10**12 + k * k)
            put("2f", 0.25 * k, math.cos(0.1 * k))
            put("I", 0)
            w.add_message(channel, us * 1000, bytes(b), us * 1000)
            table.append(dict(t_us=k * STEP, down=k % 2 == 0, raw=-300 * (k - 50), a0=angles[0], a2=angles[2], count=10**12 + k * k, fixed=np.float32(math.cos(0.1 * k))))
        w.finish()
    rows("small.mcap", table)


def tlog():
    os.environ["MAVLINK20"] = "1"
    from pymavlink.dialects.v10 import ardupilotmega as v1
    from pymavlink.dialects.v20 import ardupilotmega as v2

    writers = {"1": v1.MAVLink(None, srcSystem=1, srcComponent=1), "2": v2.MAVLink(None, srcSystem=1, srcComponent=1), "signed": v2.MAVLink(None, srcSystem=1, srcComponent=1)}
    writers["signed"].signing.secret_key = bytes(range(32))
    writers["signed"].signing.link_id = 0
    writers["signed"].signing.timestamp = 10**12
    writers["signed"].signing.sign_outgoing = True
    camera, other, ground = (v2.MAVLink(None, srcSystem=s, srcComponent=c) for s, c in ((1, 100), (7, 1), (255, 190)))
    out, table = open("two.tlog", "wb"), []

    def put(us, mav, m):
        out.write(struct.pack(">Q", us) + m.pack(mav))

    for k in range(N):
        us, ms, t = START + k * STEP, 5000 + k * STEP // 1000, k / 50
        way = ("1", "2", "signed")[k // 3 % 3]
        mav, d = writers[way], v1 if way == "1" else v2
        if k % 25 == 0:
            put(us - 4000, mav, d.MAVLink_heartbeat_message(2, 3, 128 | 81, 4, 4, 3))
            put(us - 3900, other, v2.MAVLink_heartbeat_message(10, 3, 0, 4, 4, 3))
            put(us - 3800, ground, v2.MAVLink_heartbeat_message(6, 8, 192, 0, 4, 3))
            put(us - 3700, camera, v2.MAVLink_heartbeat_message(30, 8, 0, 0, 4, 3))
        e = [0.2 * math.sin(1.3 * t), 0.15 * math.cos(1.7 * t), 3 + 0.8 * math.sin(0.9 * t)]
        e[2] -= 2 * math.pi * (e[2] > math.pi)
        w, x, v = [0.1 * k % 1 - 0.5, math.cos(t), -0.01 * k], [t, -t * t, -10 + t], [1.0, -2 * t, 1.0]
        m = [1500 + 3 * k, 1500 - 2 * k, 1400 + k, 1300 + k * k // 30]
        put(us, mav, d.MAVLink_attitude_message(ms, *e, *w))
        put(us + 50, other, v2.MAVLink_attitude_message(ms + 777, 1, 1, 1, 1, 1, 1))
        put(us + 100, mav, d.MAVLink_local_position_ned_message(ms, *x, *v))
        put(us + 200, mav, d.MAVLink_servo_output_raw_message(ms * 1000, 0, *m, 0, 0, 0, 0))
        table.append(dict(t_us=k * STEP, **dict(zip("x y z vx vy vz roll pitch yaw p q r m1 m2 m3 m4".split(), [np.float32(a) for a in x + v + e + w] + m))))
    out.close()
    rows("two.tlog", table)


def dataflash():
    kinds = {"b": "b", "B": "B", "h": "h", "H": "H", "i": "i", "I": "I", "f": "f", "d": "d", "n": "4s", "N": "16s", "Z": "64s", "c": "h", "C": "H",
             "e": "i", "E": "I", "L": "i", "M": "B", "q": "q", "Q": "Q", "a": "32h", "g": "e"}
    formats, out = {}, open("kinds.BIN", "wb")

    def put(name, *values):
        id, fmt = formats[name]
        values = [v.encode() if isinstance(v, str) else v for v in values]
        flat = [x for v in values for x in (v if isinstance(v, list) else [v])]
        out.write(b"\xa3\x95" + bytes([id]) + struct.pack("<" + "".join(kinds[c] for c in fmt), *flat))

    def define(id, name, fmt, columns):
        formats[name] = id, fmt
        put("FMT", id, 3 + struct.calcsize("<" + "".join(kinds[c] for c in fmt)), name, fmt, columns)

    formats["FMT"] = 128, "BBnNZ"
    define(128, "FMT", "BBnNZ", "Type,Length,Name,Format,Columns")
    define(201, "FMTU", "QBNN", "TimeUS,FmtType,UnitIds,MultIds")
    define(202, "UNIT", "QbZ", "TimeUS,Id,Label")
    define(203, "MULT", "Qbd", "TimeUS,Id,Mult")
    put("UNIT", 900, ord("s"), "s")
    put("UNIT", 900, ord("m"), "m")
    put("UNIT", 900, ord("#"), "instance")
    put("MULT", 900, ord("F"), 1e-6)
    put("MULT", 900, ord("B"), 1e-2)
    put("MULT", 900, ord("-"), 0)
    define(30, "ONE", "QBbhHiIfdcC", "TimeUS,Id,b,h,H,i,I,f,d,c,C")
    define(31, "TWO", "QeELMqagNn", "TimeUS,e,E,L,M,q,a,g,N,n")
    define(32, "CMD", "QfH", "TimeUS,u,w")
    define(33, "LAST", "IhB", "TimeMS,x,y")
    put("FMTU", 900, 30, "s#-m-------", "F--B-------")
    table = []
    put("CMD", 90_000_000 - 5000, 0.5, 9)
    u = 0.5
    for k in range(N):
        us, t = 90_000_000 + k * STEP, k / 50
        r = dict(b=k - 50, h=-20 * k + 700, H=600 * k, i=-(10**7) * (k - 40), I=4 * 10**7 * k, f=np.float32(math.sin(t)), d=math.cos(t) / 3,
                 c=round(9000 * math.sin(t)), C=360 * k, e=-100_000 * k, E=30_000_000 + 17 * k * k, L=-1_000_000_000 - 333 * k, M=k % 7, q=-(2**45) * k, g=np.float16(math.sin(3 * t)))
        put("ONE", us, 0, *[r[n] for n in "bhHiIfdcC"])
        put("ONE", us + 7, 1, *[0] * 9)
        put("TWO", us, *[r[n] for n in "eELMq"], [k * j for j in range(32)], float(r["g"]), "text", "abcd")
        put("LAST", us // 1000, k, 255 - k)
        table.append(dict(t_us=k * STEP) | {n: float(v) for n, v in r.items()} | dict(a5=5 * k, u=np.float32(u), x=k, y=255 - k))
        table[-1] |= {n: r[n] / 100 for n in "cCeE"} | {"L": r["L"] / 1e7, "h_m": r["h"] / 100}
        if k % 10 == 0:
            u = math.sin(k)
            put("CMD", us + 3000, u, k)
    out.close()
    rows("kinds.BIN", table)


def ulg():
    from pyulog import ULog

    log = ULog(None)
    log._file_version, log._start_timestamp, log._last_timestamp = 1, 4_000_000_000, 4_000_000_000 + N * STEP
    log._msg_info_dict, log._msg_info_dict_types = {"sys_name": "PX4"}, {"sys_name": "char[3]"}
    log._initial_parameters = {"SYS_AUTOSTART": 4001}
    kinds = {"int8_t": "a", "uint8_t": "b", "int16_t": "c", "uint16_t": "d", "int32_t": "e", "uint32_t": "f", "int64_t": "g", "uint64_t": "h", "float": "i", "double": "j", "bool": "k", "char": "l"}
    steps = np.arange(N)
    values = dict(a=steps - 50, b=steps + 100, c=-300 * steps + 9, d=600 * steps, e=-(10**7) * (steps - 40), f=4 * 10**7 * steps, g=-(2**45) * steps, h=2**45 * steps,
                  i=np.sin(steps / 50).astype(np.float32), j=np.cos(steps / 50) / 3, k=steps % 3 == 0, l=steps % 50 + 65)
    for instance, factor in ((0, 0), (1, 1)):
        data = ULog.Data.__new__(ULog.Data)
        data.name, data.multi_id, data.msg_id, data.timestamp_idx, data.data, data.field_data = "kinds", instance, instance, 0, {}, []
        fields = [("uint64_t", 0, "timestamp")] + [(kind, 2 if name in "ci" else 0, name) for kind, name in kinds.items()]
        columns = {"timestamp": 4_000_000_000 + STEP * steps + 5 * (1 - instance)}
        for kind, size, name in fields[1:]:
            if not size:
                columns[name] = values[name] * factor
            for i in range(size):
                columns[f"{name}[{i}]"] = values[name] * factor * i
        for kind, size, name in fields:
            for path in [f"{name}[{i}]" for i in range(size)] or [name]:
                data.data[path] = columns[path].astype(ULog._UNPACK_TYPES[kind][2])
                data.field_data.append(ULog._FieldData(path, kind))
        log._message_formats["kinds"] = ULog.MessageFormat.__new__(ULog.MessageFormat)
        log._message_formats["kinds"].name, log._message_formats["kinds"].fields = "kinds", fields
        log._data_list.append(data)
    log.write_ulog("kinds.ulg")
    rows("kinds.ulg", [dict(t_us=k * STEP) | {n: float(v[k]) for n, v in values.items()} for k in range(N)])


def tables():
    import pandas as pd

    t = np.arange(N) * STEP
    theta, omega, tau = np.sin(t / 1e6), np.cos(t / 1e6), np.sign(np.sin(t / 3e5)) * 0.5
    plain = pd.DataFrame(dict(time=t / 1e6, theta=theta, omega=omega, tau=tau))
    dates = pd.to_datetime(START * 1000 + t * 1000)
    holes = plain.copy()
    holes.loc[[7, 8, 31], "theta"] = np.nan
    holes.loc[90:, "omega"] = np.nan
    several = plain.set_axis(pd.MultiIndex.from_tuples([("time", "s"), ("theta", "rad"), ("omega", "rad/s"), ("tau", "Nm")]), axis=1)
    ways = {
        "index": (plain, {}),
        "no-index": (plain, dict(index=False)),
        "german": (plain, dict(index=False, sep=";", decimal=",")),
        "quoted": (plain, dict(index=False, quoting=csv.QUOTE_ALL, encoding="utf-8-sig", lineterminator="\r\n")),
        "utf16": (plain, dict(index=False, sep="\t", encoding="utf-16")),
        "unnamed-seconds": (plain.drop(columns="time").set_index(t / 1e6), {}),
        "dates": (plain.drop(columns="time").set_index(pd.Index(dates, name="stamp")), {}),
        "zoned": (plain.drop(columns="time").set_index(pd.Index(dates.tz_localize("UTC").tz_convert("Europe/Berlin"), name="stamp")), {}),
        "unnamed-dates": (plain.drop(columns="time").set_index(dates), {}),
        "timedelta": (plain.drop(columns="time").set_index(pd.to_timedelta(t, unit="us")), {}),
        "epoch-ns": (plain.assign(time=START * 1000 + t * 1000), dict(index=False)),
        "holes": (holes, dict(index=False, na_rep="NaN")),
        "holes-empty": (holes, dict(index=False)),
        "digits": (plain, dict(index=False, float_format="%.6e")),
        "units": (several, dict(index=False)),
        "units-index": (several, {}),
        "objects": (plain.assign(mode=["auto"] * 50 + ["hand, off"] * 50, ok=[True, False] * 50), dict(index=False)),
        "gz": (plain, dict(index=False, compression=dict(method="gzip", mtime=1))),
    }
    for name, (frame, how) in ways.items():
        file = f"pandas-{name}.csv" + (".gz" if name == "gz" else "")
        frame.to_csv(file, **how)
        if name == "gz":
            continue
        table = [dict(t_us=t[k], theta=theta[k], omega=omega[k], tau=tau[k]) for k in range(N)]
        for k in range(N):
            if "holes" in name and k in (7, 8, 31):
                table[k]["theta"] = None
            if "holes" in name and k >= 90:
                table[k]["omega"] = None
            if name == "objects":
                table[k]["ok"] = k % 2 == 0
            if name == "digits":
                table[k] = {n: v if n == "t_us" else float(f"{v:.6e}") for n, v in table[k].items()}
        if name in ("index", "holes", "holes-empty", "objects", "digits"):
            rows(file, table)


if __name__ == "__main__":
    for write in (ros2, ros1, small, tlog, dataflash, ulg, tables):
        if len(sys.argv) == 1 or write.__name__ in sys.argv[1:]:
            write()
