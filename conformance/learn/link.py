"""Three links on compliant joints, whose motion a simulator and the engine of pliant compute for the same commands.

It imports neither the engine nor a simulator: the steps of the simulators run it in their own environments.
"""

import json
import sys

import numpy as np

from pliant.laws import SEA, CompliantActuator, Mode, QbMove

DT = 0.001
STEPS = 1000
WORLDS = 2
JOINTS = ("knee", "hip", "ankle")
"""Joints of one world; their axes are parallel, and the links hang side by side."""
ACTUATORS = {
    "knee": CompliantActuator(QbMove(), Mode.SPRING_EQ_PRESET),
    "hip": CompliantActuator(QbMove(k1=0.03), Mode.SPRING_EQ_PRESET),
    "ankle": CompliantActuator(SEA(), Mode.SPRING_EQ_PRESET),
}
START = np.float32([[0.0, 0.0, 0.0], [0.1, -0.05, 0.02]])
"""Positions at the start, shape (worlds, joints) [rad]."""

_LINK = (
    '<body pos="0 {y} 0"><joint name="{name}" axis="0 1 0" damping="0.1"/>'
    '<inertial pos="0.1 0 0" mass="0.5" diaginertia="0.002 0.002 0.002"/></body>'
)
XML = (
    '<mujoco><option timestep="0.001"/><worldbody><body name="base">'
    + "".join(_LINK.format(y=0.2 * k, name=name) for k, name in enumerate(JOINTS))
    + "</body></worldbody></mujoco>"
)
"""The robot without actuators."""


def commands(step):
    """Return positions [rad] and stiffness presets [rad] of all joints, each float32 of shape (worlds, joints)."""
    phase = 5.0 * step * DT + np.arange(WORLDS)[:, None] + 0.3 * np.arange(len(JOINTS))
    return np.float32(0.3 * np.sin(phase)), np.float32(0.2 + 0.15 * np.sin(2.0 * phase))


def tell(positions):
    """Print the positions of all steps, shape (steps, worlds, joints) [rad], as the last line of the output."""
    sys.stdout.write("\n" + json.dumps(np.asarray(positions, dtype=float).tolist()) + "\n")
