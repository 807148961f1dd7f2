"""Cost of a step of a dynamic model with rods, told before the first one."""

from __future__ import annotations

import mujoco

from pliant.base.errors import ModelError

MAX_FREEDOMS = 2000
"""Most degrees of freedom of a model with rods. A step takes 0.15 s then; with 3600 it takes 2 s, and the compilation
8 s."""
STEP_TIME = 6e-6
"""Time of a step with 36 degrees of freedom on one core of 2024 [s]; it grows with their number to the power of 2.5.
Measured from 100 to 1800 degrees of freedom, parallel and tendon-driven robots, within a factor of three."""
PREFIX = "speed: "
_SIZES = {mujoco.mjtJoint.mjJNT_FREE: 6, mujoco.mjtJoint.mjJNT_BALL: 3}


def count_freedoms(spec: mujoco.MjSpec) -> int:
    """Return the degrees of freedom of a spec."""
    return sum(_SIZES.get(mujoco.mjtJoint(joint.type), 1) for joint in spec.joints)


def step_time(freedoms: int) -> float:
    """Return about how long a step takes [s]."""
    return STEP_TIME * (freedoms / 36.0) ** 2.5


def note_cost(notes: list[str], name: str, freedoms: int, timestep: float, option: str, value: int) -> None:
    """Add to the notes of a robot what its simulation costs, if it is slower than real time, in place of an earlier
    note.

    Args:
        notes: changed in place.
        name: of the robot or its part, for messages.
        freedoms: degrees of freedom of the whole model.
        timestep: length of a step [s].
        option: what the degrees of freedom of the rods are proportional to, for messages.
        value: its value.

    Raises:
        ModelError: there are more than `MAX_FREEDOMS`.
    """
    if freedoms > MAX_FREEDOMS:
        raise ModelError(
            f"{name}: with {option}={value} the model has {freedoms} degrees of freedom, and a step takes about "
            f"{step_time(freedoms):.1g} s; must be at most {MAX_FREEDOMS}, as with "
            f"{option}={max(1, value * MAX_FREEDOMS // freedoms)}",
            field=option.rpartition(".")[2],
        )
    notes[:] = [note for note in notes if not note.startswith(PREFIX)]
    took = step_time(freedoms)
    if took > timestep:
        notes.append(
            f"{PREFIX}the model has {freedoms} degrees of freedom: a step of {1e3 * timestep:g} ms takes about "
            f"{1e3 * took:.2g} ms, and a second of simulation about {took / timestep:.2g} s; "
            f"{option} is {value}, and a smaller number is faster"
        )
