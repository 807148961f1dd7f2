"""Run a policy as the controller of a Franka arm, over the Franka Control Interface or in this process."""

from __future__ import annotations

import contextlib
import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.base.errors import BridgeError, DeviceError, PliantError, nearest
from pliant.base.numerics import Array
from pliant.franka.client.backend import PERIOD
from pliant.franka.client.held import COUNTS, HeldCommand
from pliant.franka.client.robot import FrankaRobot
from pliant.franka.robots.parameters import ARMS as TYPES
from pliant.franka.robots.parameters import arm as arm_of
from pliant.franka.wire import fci
from pliant.learn.policy import Policy, PolicyError
from pliant.learn.running import DeadMan, PolicyDriver, PolicyGuard, Safety, check_inputs, full_observation

ARMS = {"franka": "fer", **{name: name for name in TYPES}}
"""Robot of a policy -> type of the arm."""
REST = 0.01
"""Largest velocity of a joint at rest [rad/s]."""  # assumed
DAMPING = np.array([10.0, 10.0, 10.0, 10.0, 3.0, 3.0, 3.0])
"""Joint damping with which a torque motion is stopped [N m s/rad]."""  # assumed
DAMPED_S = 1.0
"""Longest duration of this damping [s]."""


def arm_of_policy(policy: Policy, arm: str = "") -> str:
    """Return the type of the arm, from ``arm`` or from the robot of the policy.

    Raises:
        PolicyError: the robot of the policy does not define the type, or defines another one.
    """
    said = ARMS.get(policy.robot, "")
    if arm and said and arm != said:
        raise PolicyError(
            f"the policy is for the arm {said}, its robot is {policy.robot!r}; --arm says {arm!r}", field="arm"
        )
    found = arm or said
    if not found:
        raise PolicyError(
            f"the policy's robot is {policy.robot!r}, which does not say the type of the arm; give it as --arm fer or "
            "--arm fr3",
            field="arm",
        )
    return found


def _element(name: str, valid: Mapping[str, int], what: str) -> tuple[str, str, int]:
    """Return device, field and index of ``<device>/<field>[<index>]``."""
    device, _, rest = name.rpartition("/")
    match = re.fullmatch(r"(\w+)(?:\[(\d{1,3})\])?", rest, re.ASCII)
    quantity, index = match.groups() if match else ("", None)
    if quantity not in valid:
        raise PolicyError(f"the arm has no {what} {name!r}; {nearest(quantity or rest, valid)}", field=what)
    count = valid[quantity]
    if index is None and count > 1:
        raise PolicyError(
            f"the {what} {name!r} has {count} numbers; must name one, {quantity}[0] to {quantity}[{count - 1}]",
            field=what,
        )
    if int(index or 0) >= count:
        raise PolicyError(f"the {what} {name!r} does not exist; must be at most {quantity}[{count - 1}]", field=what)
    return device, quantity, int(index or 0)


@dataclass(slots=True)
class FrankaPolicyRun:
    """Runs a policy on an arm, once per period of robot time; commands are held in between.

    Observations are ``<device>/<field>[<index>]`` with the fields of the arm's state, such as ``franka/q[0]``; commands
    are ``<device>/dq_c[<index>]`` [rad/s] or ``<device>/tau_J_d[<index>]`` [N m], index 0 to 6. Joints without a
    command get zero velocity, or zero torque in addition to gravity compensation.

    Raises:
        PolicyError: an observation, a command or an input is invalid, the period is not a whole number of milliseconds,
            or the limits exceed those of the arm.
    """

    policy: Policy
    """The policy."""
    robot: FrankaRobot
    """Interface to the arm; its ``period`` is not used."""
    inputs: Mapping[str, float]
    """Input name, without ``input/`` -> value."""
    safety: Safety = field(default_factory=Safety)
    """Limits; an arm begins and ends at rest, so that it needs no start pose."""
    steps: int = 0
    """Number of commands computed by the policy."""
    lost: int = 0
    """Number of states that did not arrive or whose command was too late."""
    held: HeldCommand = field(init=False)
    """The command of the arm."""
    guard: PolicyGuard = field(init=False)
    """Checks observations and limits commands."""
    _columns: list[tuple[str, int]] = field(init=False)
    _cycles: int = field(init=False)

    def __post_init__(self) -> None:
        policy = self.policy
        check_inputs(policy, self.inputs)
        if self.safety.approach > 0.0:
            raise PolicyError("an arm begins and ends at rest; the start pose must be left out", field="approach")
        self.guard = PolicyGuard(policy, self.safety)
        self._check_arm()
        self._cycles = round(policy.period / PERIOD)
        if self._cycles < 1 or not math.isclose(self._cycles * PERIOD, policy.period, rel_tol=1e-9):
            raise PolicyError(
                f"the policy's period is {policy.period:g} s; must be a whole number of milliseconds", field="period"
            )
        reals = {name: info.count for name, info in fci.REALS.items()}
        seen = [_element(name, reals, "observation") for name in policy.measured]
        commands = [_element(name, COUNTS, "command") for name in policy.commands]
        devices = dict.fromkeys(device for device, _, _ in (*seen, *commands))
        if len(devices) > 1:
            raise PolicyError(f"the policy names the devices {', '.join(devices)}; must be one arm", field="device")
        kinds = dict.fromkeys(name for _, name, _ in commands)
        if len(kinds) > 1:
            raise PolicyError(f"the policy commands {' and '.join(kinds)}; must be one of them", field="commands")
        self._columns = [(name, index) for _, name, index in seen]
        self.held = HeldCommand(self.robot, commands[0][1], [index for _, _, index in commands])
        for name, joint, low, high in zip(policy.commands, self.held.elements, policy.low, policy.high, strict=True):
            least, most = self.held.limits(joint)
            if min(low, high) < least or max(low, high) > most:
                unit, part = self.held.kind.unit, "joint" if self.held.kind.count == 7 else "axis"
                within = f"{most:g}" if least == -most else f"{least:g} to {most:g}"
                raise PolicyError(
                    f"{name} goes from {low:g} to {high:g} {unit}; must be within {within} {unit}, the limit of "
                    f"{part} {joint + 1} of the {self.robot.arm.title}",
                    field="commands",
                )

    def _check_arm(self) -> None:
        """Refuse an arm of another type than the policy's, where the arm tells its type."""
        expected = ARMS.get(self.policy.robot, self.robot.arm.name)
        for found in (self.robot.arm.name, self.robot.backend.served_arm()):
            if found and found != expected:
                raise PolicyError(
                    f"the arm at {self.robot.backend.address} is a {arm_of(found).title} ({found}); must be the "
                    f"{arm_of(expected).title} ({expected}), for which the policy is made",
                    field="arm",
                )

    def start(self) -> None:
        """Start the motion of the arm.

        Raises:
            DeviceError: the arm refuses the motion, for instance after a reflex.
        """
        self.held.start()

    def step(self, stopped: Callable[[], bool] = lambda: False) -> Array:
        """Read the observations, evaluate the policy and hold the command for one period of robot time.

        Args:
            stopped: called every millisecond; the period ends early if it returns True.

        Returns:
            The command of all joints, shape (7,), or of all axes, shape (6,), in its unit.

        Raises:
            DeviceError: the arm ended the motion. The message lists its errors.
            BridgeError: there is no new state within the timeout, the connection is lost, or a state contains NaN.
        """
        backend, start = self.robot.backend, self.robot.time
        measured = [backend.get(name).reshape(-1)[index] for name, index in self._columns]
        values = self.guard.act(full_observation(self.policy, self.inputs, measured, self.steps))
        command = self.held.hold(values)
        self.steps += 1
        while round((self.robot.time - start) / PERIOD) < self._cycles and not stopped():
            self._cycle()
        return command

    def _cycle(self) -> None:
        robot = self.robot
        before, clock = robot.time, time.monotonic()
        self.held.cycle()
        passed, waited = robot.time - before, time.monotonic() - clock
        if passed < 0.5 * PERIOD:
            raise BridgeError(f"the policy stopped: the state of the arm is old, its time stands at {before:.3f} s")
        if max(passed, waited) > self.safety.timeout:
            raise BridgeError(
                f"the policy stopped: no new state of the arm for {max(passed, waited):.2f} s, more than "
                f"{self.safety.timeout:g} s",
                field="timeout",
            )
        self.lost += round(passed / PERIOD) - 1

    def finish(self) -> None:
        """Bring the arm to rest and finish the motion; the arm then holds its position.

        Velocities are reduced within the limits of acceleration and jerk; torques are replaced by damping until the
        joints are at rest.

        Raises:
            DeviceError, BridgeError: the arm cannot be stopped this way; the motion was aborted.
        """
        robot = self.robot
        try:
            if robot.get_robot_state() == "force_torque":
                for _ in range(round(DAMPED_S / PERIOD)):
                    dq = robot.backend.get("dq")
                    if np.abs(dq).max() < REST:
                        break
                    robot.want_force_torque("joint", -DAMPING * dq, 1.0)
                    robot.wait(PERIOD)
            robot.stop_motion()
        except BaseException:
            with contextlib.suppress(PliantError):
                robot.abort()
            raise


def run_franka_policy(run: FrankaPolicyRun, *, duration: float = math.inf, stop: threading.Event | None = None) -> None:
    """Run a policy once per period, for a duration of robot time [s] or until ``stop`` is set; then stop the arm.

    Raises:
        DeviceError: the arm refuses to move, or ended the motion. The message lists its errors.
        BridgeError: there is no new state, or the connection is lost; the arm was stopped if that was possible.
    """
    stop = stop or threading.Event()
    dead_man = DeadMan(run.safety.dead_man)
    run.start()
    try:
        while not stop.is_set() and run.steps * run.policy.period < duration - 1e-9:
            if dead_man.lost():
                raise BridgeError(
                    f"the policy stopped: no line at standard input for {run.safety.dead_man:g} s", field="dead_man"
                )
            run.step(stop.is_set)
    except DeviceError as error:
        raise DeviceError(f"the arm ended the policy after {run.steps} commands: {error}", field=error.field) from None
    except BaseException:
        with contextlib.suppress(PliantError):
            run.finish()
        raise
    run.finish()


def _drive(
    policy: Policy, inputs: Mapping[str, float], options: Mapping[str, Any], duration: float, safety: Safety
) -> tuple[dict[str, int], str]:
    """Run a policy on a Franka arm; the first Ctrl-C brings it to rest."""
    from pliant.cli.termination import stopping_at_signal

    arm = arm_of_policy(policy, options["arm"])
    if not options["host"]:
        raise PliantError("the bridge fci needs --host ADDRESS, the address of the arm", field="host")
    with FrankaRobot.connect(options["host"], arm=arm, realtime=options["realtime"]) as robot:
        task = FrankaPolicyRun(policy, robot, inputs, safety)
        with stopping_at_signal() as stop:
            run_franka_policy(task, duration=duration, stop=stop)
    text = f"{task.steps} commands, {task.lost} states lost; the arm is at rest and holds its position"
    return {"commands": task.steps, "lost": task.lost}, text


FCI = PolicyDriver(options=("host", "arm", "realtime"), run=_drive)
"""Policies over the Franka Control Interface."""
