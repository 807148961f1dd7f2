"""What breaks the statements and checks of ``yarp-ft-imu``."""

import numpy as np
from mutations import Mutation

from pliant.model import ForceTorque, Imu
from pliant.papers import yarp_ft_imu
from pliant.simulation import run_devices
from pliant.yarp import program as yarp_program
from pliant.yarp.bridge import sensors
from pliant.yarp.program import World

PUSH = 0.2
"""Duration of the pushes of a broken run [s]."""


def clean_run(context, options):
    clean = yarp_ft_imu.record(options, noisy=False, push=PUSH)
    return [*yarp_ft_imu.load_statements(clean), *yarp_ft_imu.inertial_statements(clean)]


def both_runs(context, options):
    clean = yarp_ft_imu.record(options, noisy=False, push=PUSH)
    noisy = yarp_ft_imu.record(options, noisy=True, push=PUSH)
    return [*yarp_ft_imu.noise_statements(clean, noisy, options), yarp_ft_imu.repetition_target(clean, noisy)]


def other_robot(monkeypatch):
    """Give the robot two sensors more, half the step, and messages with one number more."""

    def built(*, timestep, **options):
        robot = yarp_program.biped(timestep=0.5 * timestep, **options)
        robot.devices += [Imu(name="second", body="torso_pitch"), ForceTorque(name="neck_ft", body="torso_pitch")]
        return robot

    monkeypatch.setattr(yarp_ft_imu, "biped", built)
    six, channels = sensors._six, sensors.channels
    monkeypatch.setattr(sensors, "_six", lambda sample: [*six(sample), 0.0])
    monkeypatch.setattr(sensors, "channels", lambda device: lambda sample: [*channels(device)(sample), 0.0])


def wrong_pushes(monkeypatch):
    """Push by 5 % less than is said, and expect another gravity."""
    push = World.push
    monkeypatch.setattr(
        World, "push", lambda self, link, force, duration: push(self, link, [0.95 * x for x in force], duration)
    )
    monkeypatch.setattr(yarp_ft_imu, "GRAVITY", 9.6)


class Coloured:
    """Uniform numbers with a mean, each given three times."""

    def __init__(self, right):
        self._right = right
        self._count = -1
        self._held = {}

    def standard_normal(self, size=None):
        key = str(size)
        count, value = self._held.get(key, (0, None))
        if count % 3 == 0:
            value = self._right.uniform(-2.5, 3.5, size)
        self._held[key] = (count + 1, value)
        return value if size is None else np.array(value)

    def __getattr__(self, name):
        return getattr(self._right, name)


def coloured_noise(monkeypatch):
    """Draw the sensors' noise from another distribution, and push otherwise in the second run."""
    right, push = run_devices.seeded, World.push
    monkeypatch.setattr(run_devices, "seeded", lambda seed, name: Coloured(right(seed, name)))
    count = 0

    def growing(self, link, force, duration):
        nonlocal count
        count += 1
        push(self, link, [(1.0 + 1e-3 * count) * x for x in force], duration)

    monkeypatch.setattr(World, "push", growing)


MUTATIONS = [
    Mutation(
        experiment="yarp-ft-imu",
        name="two sensors more, half the step, messages with a number more",
        patch=other_robot,
        run=clean_run,
        turns=(
            "force/torque sensors at the name server",
            "inertial units at the name server",
            "numbers in a message*",
            "time between messages less the step",
            "integrated angular velocity less the told orientation",
        ),
    ),
    Mutation(
        experiment="yarp-ft-imu",
        name="pushes of 95 %, another gravity",
        patch=wrong_pushes,
        run=clean_run,
        turns=(
            "weight of the hand less mass times gravity",
            "force less weight and push, over the push, largest",
            "torque less that of weight and push, over the push's, largest",
            "acceleration at rest less gravity in the told orientation",
        ),
    ),
    Mutation(
        experiment="yarp-ft-imu",
        name="uniform, coloured noise with a mean; pushes that grow",
        patch=coloured_noise,
        run=both_runs,
        turns=("acceleration: *", "angular velocity: *", "noise moves a joint by"),
    ),
]
