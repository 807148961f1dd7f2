"""What breaks the statements and checks of ``franka-torque``."""

import functools

from mutations import Mutation

from pliant.franka.client import FrankaRobot
from pliant.franka.device import arm, plant
from pliant.papers import franka_torque
from pliant.papers.arms.opened import open_robot
from pliant.vision.tasks import SmoothStart

SHORT = 1.5
"""Length of a broken run [s]."""


@functools.cache
def healthy(friction, compensated, feedforward):
    return drive(friction, compensated, feedforward)


def drive(friction=False, compensated=False, feedforward=False):
    with open_robot(friction=friction, compensated=compensated, fci=False) as served:
        return franka_torque.drive(served.left, feedforward=feedforward, duration=SHORT)


def free_run(context, options):
    """Judge a broken run without friction, in the place of all three."""
    with open_robot(friction=False, fci=False) as served:
        run = franka_torque.drive(served.left, feedforward=False, duration=SHORT, options=options)
    return [*franka_torque.statements(run, run, run), *franka_torque.checks(run, [run], options)]


def rough_run(context, options):
    """Judge a broken run with friction against a healthy one without."""
    free = healthy(False, False, False)
    return franka_torque.statements(free, free, drive(friction=True))


def through_interface(context, options):
    return [franka_torque.interface_check(healthy(False, False, False), SHORT, options)]


def at_once(monkeypatch):
    monkeypatch.setattr(SmoothStart, "__call__", lambda self, value, t: value)


def wrong_model(monkeypatch):
    right = FrankaRobot.get_mass
    monkeypatch.setattr(FrankaRobot, "get_mass", lambda self: 0.7 * right(self))


def late(monkeypatch):
    send = FrankaRobot.set_force_torque

    def slow(self, *args, **options):
        send(self, *args, **options)
        if self.time > 1.0:
            self.wait(1e-3)

    monkeypatch.setattr(FrankaRobot, "set_force_torque", slow)


def beyond(monkeypatch):
    """Let ten times the friction act beyond the torque sensors too."""
    start, firmware = plant.ArmPlant.__init__, arm.FrankaArm._firmware

    def started(self, model, data, name, **options):
        start(self, model, data, name, **options)
        first = int(model.joint(f"{name}_joint1").dofadr[0])
        self.applied = data.qfrc_applied[first : first + 7]

    def ran(self):
        self.plant.applied[:] = -10.0 * self.plant.motors.friction  # of the last step
        firmware(self)

    monkeypatch.setattr(plant.ArmPlant, "__init__", started)
    monkeypatch.setattr(arm.FrankaArm, "_firmware", ran)


def other_sine(monkeypatch):
    healthy(False, False, False)  # of this process, kept: with the sine of before
    monkeypatch.setattr(franka_torque, "WAVES", ((0, 0.9, 0.1), *franka_torque.WAVES[1:]))


MUTATIONS = [
    Mutation(
        experiment="franka-torque",
        name="no smooth start",
        options={"decay": 100.0},
        patch=at_once,
        run=free_run,
        turns=("jump of the measured torques at the start over the torque of the first error",),
    ),
    Mutation(
        experiment="franka-torque",
        name="gains of a hundredth",
        options={"gain": 0.01},
        run=free_run,
        turns=("RMS tracking error over RMS displacement, *",),
    ),
    Mutation(
        experiment="franka-torque",
        name="the controller's inertia matrix is 30 % too small",
        patch=wrong_model,
        run=free_run,
        turns=("error beyond the closed loop's own, no friction",),
    ),
    Mutation(
        experiment="franka-torque",
        name="each command holds for two milliseconds",
        patch=late,
        run=free_run,
        turns=("milliseconds without a command",),
    ),
    Mutation(
        experiment="franka-torque",
        name="friction beyond the torque sensors, ten times the identified one",
        patch=beyond,
        run=rough_run,
        turns=("RMS change of joint * by friction over the published difference",),
    ),
    Mutation(
        experiment="franka-torque",
        name="another sine in this process than through the interface",
        patch=other_sine,
        run=through_interface,
        turns=("largest difference between the interface and this process",),
    ),
]
