"""Common parts of the tasks with qbMoves: springs of each joint type, worlds of an episode, energy of the motors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array
from pliant.batch.worlds import CpuBatch
from pliant.learn.compliance.task import CLAIMS, RULE, Claim, Method

if TYPE_CHECKING:
    from pliant.model import Robot

PRESETS = (0.0, 0.6)
"""Softest and stiffest preset of a qbMove [rad]; 0.2 and 0.6 are those of Mengacci et al. 2021, section 4.2."""
SPRINGS = (0.022, 6.85)
"""k [N m] and a [1/rad] of the springs that the worlds scale, set maker-pro of `pliant.joints.qbmove.SPRINGS`."""
STIFF_SPRINGS = 20.0
"""Springs of the stiff joint as a multiple of those of a qbMove, at the stiffest preset: 180 N m/rad, more than the
125 N m/rad of the motors' position control; ours."""
SPREAD = 0.1
"""Springs of a world differ from the data sheet by up to this fraction; ours."""
JOINT_CLAIMS = (*CLAIMS, Claim("fixed", "stiff"))
"""Claims of a task with the methods of `joint_methods`."""


def joint_methods(*presets: str) -> tuple[Method, ...]:
    """Return the methods of a task whose joints are of three types.

    Args:
        presets: names of the parameters that are stiffness presets; the task also has one named ``springs``.
    """
    soft: Mapping[str, float] = {"springs": 1.0}
    stiff = {"springs": STIFF_SPRINGS, **dict.fromkeys(presets, PRESETS[1])}
    return (
        Method("fixed", tied=True, pinned=soft),
        Method("variable", pinned=soft),
        RULE,
        Method("stiff", pinned=stiff),
    )


class Episodes:
    """One world for each pair of a candidate and a seed, and the work that its motors have done.

    The parameters of a world follow from its seed alone.

    Args:
        build: function that returns the robot.
        parameters: of the candidates, shape (candidates, n).
        names: names of the columns of ``parameters``; one is ``springs``.
        seeds: seeds of the worlds.
    """

    def __init__(
        self, build: Callable[[], Robot], parameters: Array, names: Sequence[str], seeds: Sequence[int]
    ) -> None:
        self.shape = (len(parameters), len(seeds))
        """Candidates and seeds."""
        robot = build()
        self.joints = tuple(robot.actuators)
        """Names of the compliant joints."""
        self.batch = CpuBatch(robot, self.shape[0] * self.shape[1], nthread=1)
        """The worlds, those of a candidate together."""
        self.dt = robot.timestep
        """Length of a step [s]."""
        self.of = {name: np.repeat(parameters[:, k], len(seeds)) for k, name in enumerate(names)}
        """Parameter -> value in each world."""
        self._random = [np.random.default_rng(seed) for seed in seeds]
        self.work = np.zeros(self.batch.worlds)
        """Positive mechanical work of all motors so far [J]; motors that brake get nothing back."""
        scale = self.draw(1.0 - SPREAD, 1.0 + SPREAD) * self.of["springs"]
        k, a = SPRINGS
        stiffness = {f"actuator.{name}": k * scale for name in ("k1", "k2")}
        self.batch.set_parameters({**stiffness, **{f"actuator.{name}": a for name in ("a1", "a2")}})

    def draw(self, low: float, high: float) -> Array:
        """Draw a number of every world, the same for all candidates with its seed, shape (worlds,)."""
        return np.tile([rng.uniform(low, high) for rng in self._random], self.shape[0])

    def start(self, preset: Array, positions: Mapping[str, float]) -> None:
        """Put every world at rest.

        Args:
            preset: stiffness preset of all joints in each world [rad].
            positions: position of joints [rad].
        """
        self.batch.set_parameters({"actuator.initial_preset": preset})
        self.batch.reset(positions=positions)
        self.work[:] = 0.0

    def command(self, joint: str, reference: Array, preset: Array) -> None:
        """Give a joint its reference and its stiffness preset [rad], shape (worlds,)."""
        self.batch.port(f"{joint}/reference_1")[:, 0] = reference
        self.batch.port(f"{joint}/reference_2")[:, 0] = preset

    def step(self, steps: int, counts: NDArray[np.bool_] | None = None) -> None:
        """Advance all worlds and add the work of the motors, in those that count."""
        power = np.zeros(self.batch.worlds)
        for _ in range(steps):
            self.batch.step(1)
            power += sum(np.maximum(self.batch.port(f"{joint}/motor_power")[:, 0], 0.0) for joint in self.joints)
        self.work += self.dt * (power if counts is None else power * counts)

    def measures(self, **found: Array) -> dict[str, Array]:
        """Return measures in the shape that a task returns, candidates by seeds."""
        return {name: np.asarray(value, dtype=float).reshape(self.shape) for name, value in found.items()}
