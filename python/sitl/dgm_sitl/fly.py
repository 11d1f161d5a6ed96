"""One flight: the firmware, the vehicle and the pilot in step."""

import pathlib
import shutil
import time

from .firmware import Failed, Firmware

RISES = 8.0  # s, when the pilot leaves the ground or is released: the firmware lets nobody arm in its first five seconds
STEP = 0.002  # s
PATIENCE = 10  # states in a row that are not answered: the firmware leaves one out now and then, and outputs stay as they are
CLIMBS = 3.0  # s, until it flies as it will
LANDS = 1.0  # s, of closed throttle and then disarmed, at the end


def fly(vehicle, program, clock, settings, directory: pathlib.Path, seed: int, duration: float, change=None, changes_at: float = 0.0, watch=None, paced=False):
    """Fly for duration, s, and return the path of the blackbox log in directory.

    vehicle -- one of VEHICLES
    settings -- folder with the firmware's settings, from Firmware.configure
    change -- what is different from changes_at on, s after RISES: arguments of the vehicle's Change; nothing where it is None
    watch -- is called with (t, sensed, inputs) every 8 ms from CLIMBS on, inputs as the blackbox has them; t counts from RISES
    paced -- not faster than time passes
    """
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    shutil.copy2(settings / "eeprom.bin", directory)
    firmware, pilot, plant = Firmware(program, clock, directory), vehicle.parts.Pilot(seed), vehicle.parts.Plant(seed=seed)
    outputs, missed = (1000.0,) * 16, 0
    try:
        since = awake(firmware, plant)
        began, steps = time.monotonic(), int((RISES + duration + LANDS) / STEP)
        for i in range(steps):
            t = i * STEP
            if change is not None and t >= RISES + changes_at:
                plant, change = plant.changed(vehicle.parts.Change(**change)), None
            sensed = plant.sensed()
            sticks = pilot.sticks(t, sensed, RISES, STEP)
            if t > RISES + duration:
                sticks = [1500, 1500, 1000, 1500, 2000 if t < RISES + duration + LANDS / 2 else 1000, 2000]
            answer = firmware.exchange(since + t, sensed, sticks)
            missed = missed + 1 if answer is None else 0
            if missed > PATIENCE or answer is None and firmware.ended():
                raise Failed(f"{t:.2f} s: the firmware {'has ended' if firmware.ended() else 'answers no more'}; it says why in {directory / 'firmware.txt'}")
            outputs = answer or outputs
            if t >= RISES or not vehicle.parts.HELD:
                plant.step(outputs, STEP)
            if RISES + CLIMBS <= t <= RISES + duration:
                if plant.down():
                    raise Failed(f"{t:.2f} s: the vehicle has come down")
                if watch is not None and i % 4 == 0:
                    watch(t - RISES, sensed, plant.inputs(outputs))
            if paced and (ahead := t - (time.monotonic() - began)) > 0.002:
                time.sleep(ahead)
    finally:
        firmware.close()
    logs = firmware.logs()
    if len(logs) != 1:
        raise Failed(f"the firmware wrote {len(logs)} logs; it says why in {directory / 'firmware.txt'}")
    return logs[0].rename(directory / "flight.bfl")


def awake(firmware, plant):
    """Start the firmware, and return the time, s of the simulation, from which it answers every state."""
    for _ in range(3):
        firmware.start()
        answered, t = 0, 1.0
        while t < 11 and answered < 500:
            answered = 0 if firmware.exchange(t, plant.sensed(), None, wait=0.002 if answered == 0 else 0.2) is None else answered + 1
            t += STEP
        if answered == 500:
            return t
        firmware.stop()
    raise Failed(f"the firmware does not answer; it says why in {firmware.directory / 'firmware.txt'}")

