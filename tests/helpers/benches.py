"""Small robots for the tests of the engine: one joint, or two, with the bench load of the paper."""

import mujoco
import numpy as np

from pliant.laws import AwAS2
from pliant.model import Robot

INERTIA = 0.002 + 0.2 * 0.04**2
WEIGHT = 0.2 * 9.81 * 0.04

ONE = """
<mujoco model="bench"><option timestep="{dt}" integrator="{integrator}" gravity="0 0 {gravity}"/>
<worldbody><body name="link"><joint name="joint" axis="0 1 0" damping="{damping}" limited="false"/>
<inertial pos="0.04 0 0" mass="0.2" diaginertia="0.002 0.002 0.002"/></body></worldbody></mujoco>
"""

TWO = """
<mujoco model="arm"><option timestep="0.001" gravity="0 0 -9.81"/>
<worldbody><body name="upper"><joint name="shoulder" axis="0 1 0" damping="0.065"/>
<inertial pos="0 0 -0.04" mass="0.5" diaginertia="0.002 0.002 0.002"/>
<body name="fore" pos="0 0 -0.085"><joint name="elbow" axis="0 1 0" damping="0.065"/>
<inertial pos="0 0 -0.04" mass="0.5" diaginertia="0.002 0.002 0.002"/></body></body></worldbody></mujoco>
"""


def bench(actuator, *, dt=1e-3, damping=0.065, gravity=-9.81, integrator="implicitfast"):
    """Return a robot of one joint with an actuator on it; q = 0 is horizontal."""
    text = ONE.format(dt=dt, damping=damping, gravity=gravity, integrator=integrator)
    robot = Robot(mujoco.MjSpec.from_string(text))
    robot.add_actuator("joint", actuator)
    return robot


def arm(shoulder, elbow):
    """Return a hanging arm of two joints."""
    robot = Robot(mujoco.MjSpec.from_string(TWO))
    robot.add_actuator("shoulder", shoulder)
    robot.add_actuator("elbow", elbow)
    return robot


def gravity_torque(q):
    """Return the torque of gravity on the bench's joint: the load hangs from a horizontal link."""
    return WEIGHT * np.cos(q)


def smooth_references(law, mode, t):
    """Return references (n,) and (n,) that move without jumps and keep every law inside its domain."""
    if mode == 0:
        return 0.05 * np.sin(6 * t) - WEIGHT, 0.0 * t
    if mode == 4:
        return 0.3 * np.sin(6 * t), -0.2 * np.sin(5 * t)
    first = 0.3 * np.sin(5 * t)
    if law.second_input == "pressure":
        second = 1.5e5 + 0.5e5 * np.sin(4 * t)
        return (first, second) if mode in (3, 6) else (1.5e5 + 1e5 * np.sin(5 * t), second)
    if isinstance(law, AwAS2) or law.second_input == "lever":
        return first, 0.012 + 0.003 * (1 - np.cos(4 * t))
    if mode in (3, 6):
        return first, 0.1 + 0.05 * np.sin(4 * t)
    return first + 0.1, first - 0.1 - 0.05 * np.sin(4 * t)


def drive(engine, joint, ref_1, ref_2, record=()):
    """Step an engine through references; return the recorded ports, each (n,)."""
    r1 = engine.port(f"{joint}/reference_1")
    name = f"{joint}/reference_2"
    r2 = engine.port(name) if name in engine.ports() else np.zeros(1)
    views = [engine.port(p) for p in record]
    out = np.empty((len(ref_1), len(views)))
    for i, (a, b) in enumerate(zip(ref_1, ref_2)):
        r1[0], r2[0] = a, b
        engine.step()
        out[i] = [v[0] for v in views]
    return out.T
