"""Push a box of 2 kg over the floor with the arm of five qbMoves (Mengacci et al. 2021, section 4.2.3).

The reward is how far the box moves away from the arm, less what it turns: the arm must give way where the box resists.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.batch.distributions import Distribution
from pliant.learn.envs.task import Action, Function, Task, World
from pliant.model import Robot

JOINTS = ("joint_1", "joint_2", "joint_3", "joint_4", "joint_5")
_STATE = tuple(f"{joint}/{quantity}" for quantity in ("position", "velocity") for joint in JOINTS)
PRESETS = (0.0, 0.6)
"""Softest and stiffest preset [rad]."""
GOAL = 0.15
"""Distance at which the box is where it should be [m]; assumed."""


def robot(springs: str = "maker-pro") -> Robot:
    """Return the arm and the box of the catalogue.

    Args:
        springs: set of springs of the arm.
    """
    from pliant.robots import build_robot

    return build_robot("qbmove-5dof", {"springs": springs})


def heading(world: World) -> NDArray[np.float64]:
    """Return how far the box turned about the vertical [rad]."""
    w, x, y, z = world.port("body/box/orientation").T
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def joints(world: World) -> NDArray[np.float64]:
    """Return positions [rad] and velocities [rad/s] of the joints."""
    return world.ports(_STATE)


def box(world: World) -> NDArray[np.float64]:
    """Return position [m] and heading [rad] of the box."""
    return np.column_stack([world.port("body/box/position"), heading(world)])


def moved(start: float) -> tuple[Function, Function]:
    """Return how far the box is from where it began [m], and whether it is where it should be.

    Args:
        start: where the box begins [m].
    """

    def distance(world: World) -> NDArray[np.float64]:
        return world.port("body/box/position")[:, 0] - start

    def pushed(world: World) -> NDArray[np.bool_]:
        return distance(world) >= GOAL

    return distance, pushed


def task(*, springs: str = "maker-pro", randomize: dict[str, Distribution] | None = None) -> Task:
    """Return the task.

    Args:
        springs: set of springs of the arm: toolbox, kit or maker-pro.
        randomize: path of a parameter -> distribution, such as ``{"box.mass": Uniform(1.0, 3.0)}``.
    """
    built = robot(springs)  # held while its box is read: elements of a spec do not keep it alive
    start = float(built.spec.body("box").pos[0])
    distance, pushed = moved(start)
    actions = [Action(f"{joint}/reference_1", -1.2, 1.2) for joint in JOINTS]
    actions += [Action(f"{joint}/reference_2", *PRESETS) for joint in JOINTS]
    period = 0.02
    return Task(
        robot=lambda: robot(springs),
        actions=actions,
        observation={"joints": joints, "box": box},
        reward={
            "distance": lambda world: period * distance(world),
            "heading": lambda world: -0.1 * period * np.abs(heading(world)),
            "pushed": lambda world: pushed(world).astype(float),
        },
        terminated={"pushed": pushed},
        period=period,
        duration=6.0,
        randomize=randomize or {},
    )
