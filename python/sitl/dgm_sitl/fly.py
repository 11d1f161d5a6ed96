"""One flight: the firmware, the vehicle and the pilot in step."""

import pathlib
import shutil
import time

from .firmware import Failed, Firmware
from .pilot import RISES, Pilot
from .vehicle import Change, Vehicle

STEP = 0.002  # s
PATIENCE = 10  # states in a row that are not answered: the firmware leaves one out now and then, and the motors keep their commands
CLIMBS = 3.0  # s, until it flies as it will
LANDS = 1.0  # s, of closed throttle and then disarmed, at the end


def fly(program, clock, settings, directory: pathlib.Path, seed: int, duration: float, change=None, changes_at: float = 0.0, watch=None, paced=False):
    """Fly for duration, s, and return the path of the blackbox log in directory.

    settings -- folder with the firmware's settings, from Firmware.configure
    change -- what is different from changes_at on, s after the pilot has left the ground; none where it is None
    watch -- is called with (t, sensed, motors) every 8 ms from CLIMBS on, motors as Betaflight counts them
    paced -- not faster than time passes
    """
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    shutil.copy2(settings / "eeprom.bin", directory)
    firmware, pilot, vehicle = Firmware(program, clock, directory), Pilot(seed), Vehicle(seed=seed)
    commands, airborne, missed = (0.0,) * 4, False, 0
    try:
        since = awake(firmware, vehicle)
        began, steps = time.monotonic(), int((RISES + duration + LANDS) / STEP)
        for i in range(steps):
            t = i * STEP
            if change is not None and t >= RISES + changes_at:
                vehicle, change = vehicle.changed(change), None
            sensed = vehicle.sensed()
            sticks = pilot.sticks(t, sensed, RISES, STEP)
            if t > RISES + duration:
                sticks = [1500, 1500, 1000, 1500, 2000 if t < RISES + duration + LANDS / 2 else 1000, 2000]
            answer = firmware.exchange(since + t, sensed, sticks)
            missed = missed + 1 if answer is None else 0
            if missed > PATIENCE or answer is None and firmware.ended():
                raise Failed(f"{t:.2f} s: the firmware {'has ended' if firmware.ended() else 'answers no more'}; it says why in {directory / 'firmware.txt'}")
            commands = answer or commands
            vehicle.step(commands, STEP)
            airborne = airborne or sensed.position[2] > 0.3
            if t > RISES + CLIMBS and t < RISES + duration and sensed.position[2] < 0.05:
                raise Failed(f"{t:.2f} s: the vehicle has come down")
            if watch is not None and i % 4 == 0 and RISES + CLIMBS <= t <= RISES + duration:
                watch(t, sensed, (commands[3], commands[0], commands[1], commands[2]))
            if paced and (ahead := t - (time.monotonic() - began)) > 0.002:
                time.sleep(ahead)
    finally:
        firmware.close()
    logs = firmware.logs()
    if not airborne or len(logs) != 1:
        raise Failed(f"the vehicle has not flown (logs: {[p.name for p in logs]}); the firmware says why in {directory / 'firmware.txt'}")
    return logs[0].rename(directory / "flight.bfl")


def awake(firmware, vehicle):
    """Start the firmware, and return the time, s of the simulation, from which it answers every state."""
    for _ in range(3):
        firmware.start()
        answered, t = 0, 1.0
        while t < 11 and answered < 500:
            answered = 0 if firmware.exchange(t, vehicle.sensed(), None, wait=0.002 if answered == 0 else 0.2) is None else answered + 1
            t += STEP
        if answered == 500:
            return t
        firmware.stop()
    raise Failed(f"the firmware does not answer; it says why in {firmware.directory / 'firmware.txt'}")


__all__ = ["Change", "fly"]
