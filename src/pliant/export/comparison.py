"""How far a robot exported to plain MuJoCo moves from the same robot in pliant, measured at equal steps."""

from __future__ import annotations

import mujoco
import numpy as np

from pliant.base.errors import DivergedError
from pliant.base.numerics import Array
from pliant.engine import MujocoEngine
from pliant.laws import Mode
from pliant.model.robot import Robot

SECONDS = 2.0
"""Length of the test motion [s]."""
AMPLITUDE = 0.3
"""Largest change of reference 1 in the test motion, in its unit, as far as half the way to a limit of the joint."""


def describe_difference(robot: Robot, native: mujoco.MjModel) -> list[str]:
    """Return in a sentence by how much each compliant joint moves differently in a motion of all of them.

    The references step by `AMPLITUDE` and then follow a chirp from 0.5 to 4.5 Hz.

    Args:
        robot: the robot.
        native: its exported model, with the key frame "rest".
    """
    engine = MujocoEngine(robot, check=False)
    data = mujoco.MjData(native)
    mujoco.mj_resetDataKeyframe(native, data, native.key("rest").id)
    joints = list(robot.actuators)
    own, found = ([int(m.joint(joint).qposadr[0]) for joint in joints] for m in (engine.model, native))
    to, at = ([int(m.actuator_ctrladr[m.actuator(joint).id]) for joint in joints] for m in (engine.model, native))
    start, sizes = engine.data.ctrl[to].copy(), _amplitudes(robot, engine, own)
    h, largest = robot.timestep, np.zeros(len(joints))
    for k in range(round(SECONDS / h)):
        references = start + sizes * _motion(k * h)
        engine.data.ctrl[to] = data.ctrl[at] = references
        try:
            engine.step(1)
        except DivergedError as error:
            return [f"the difference could not be measured: in pliant, {error}"]
        mujoco.mj_step(native, data)
        np.maximum(largest, np.abs(data.qpos[found] - engine.data.qpos[own]), out=largest)
    listed = ", ".join(f"{joint!r} {difference:.2g} rad" for joint, difference in zip(joints, largest))
    return [
        f"in {SECONDS:g} s of a step and a chirp of reference 1, with a time step of {1e3 * h:g} ms, file and pliant "
        f"differ by: {listed}"
    ]


def _motion(t: float) -> float:
    return 1.0 if t < 0.5 * SECONDS else float(np.cos(2.0 * np.pi * (0.5 * t + t * t)))


def _amplitudes(robot: Robot, engine: MujocoEngine, addresses: list[int]) -> Array:
    """Return the size of the motion of each reference."""
    sizes = np.full(len(addresses), AMPLITUDE)
    for i, (joint, actuator) in enumerate(robot.actuators.items()):
        element = engine.model.joint(joint)
        if actuator.mode not in (Mode.LINK_TORQUE, Mode.MOTOR_TORQUES) and element.limited[0]:
            q = engine.data.qpos[addresses[i]]
            up, down = element.range[1] - q, q - element.range[0]
            sizes[i] = min(AMPLITUDE, 0.5 * up) if up >= down else -min(AMPLITUDE, 0.5 * down)
    return sizes
