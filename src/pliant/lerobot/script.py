"""A teleoperator without a person: it pushes the box to its goal, and opens and closes the hand on the way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.base.numerics import Array
from pliant.franka.robots import kinematics
from pliant.lerobot.session import GOAL_X, JOINTS, ArmSession

SPEED = 0.2
"""Speed of the reference [m/s]; assumed."""
BEHIND = 0.09
"""Distance of the fingers from the middle of the box before the push [m]."""
CONTACT = 0.036
"""Distance of the end effector from the middle of the box where the fingers touch it [m]: half of the box, and half of
a finger."""
ABOVE, LOW = 0.12, 0.03
"""Heights of the approach and of the push over the table [m]."""
ARRIVED = 0.01
"""Distance at which a point is reached [m]; assumed."""


class Point(NamedTuple):
    """One point of the way."""

    position: tuple[float, float, float]
    """Of the end effector before the base [m]."""
    width: float
    """Opening of the hand on the way there [m]."""
    stiffness: float
    """Stiffness on the way there [N/m]: soft where it touches."""


class PushScript:
    """Actions that push the box of a session to its goal, one a call."""

    def __init__(self, session: ArmSession) -> None:
        self._session = session
        self._resets = -1
        self._way: list[Point] = []
        self._reference, self._turn, self._q = np.zeros(3), np.zeros(3), np.zeros(7)
        self._last = Point((0.0, 0.0, 0.0), 0.0, 0.0)

    @property
    def finished(self) -> bool:
        """Whether the way has been gone."""
        return self._resets == self._session.resets and not self._way

    def _begin(self) -> None:
        session = self._session
        self._resets = session.resets
        x, y, _ = session.box().tolist()
        pose = session.pose
        self._reference, self._turn = pose[:3].copy(), pose[3:].copy()
        self._q = np.array([session.observe()[name] for name in JOINTS])
        self._way = [
            Point((x - BEHIND, y, ABOVE), 0.0, 1500.0),
            Point((x - BEHIND, y, LOW), 0.0, 1500.0),
            Point((GOAL_X - CONTACT, y, LOW), 0.0, 600.0),
            Point((GOAL_X - BEHIND, y, ABOVE), 0.07, 1500.0),
        ]
        self._last = self._way[0]

    def action(self) -> dict[str, float]:
        """Return the next action of the session's kind; after the last point, the same again."""
        session, options = self._session, self._session.options
        if self._resets != session.resets:
            self._begin()
        if self._way:
            self._last = self._way[0]
            way = np.array(self._last.position) - self._reference
            step = SPEED / options.fps
            self._reference = self._reference + way * min(1.0, step / max(float(np.linalg.norm(way)), 1e-12))
            if np.abs(np.array(self._last.position) - session.pose[:3]).max() < ARRIVED:
                self._way.pop(0)
        motion: Array = np.concatenate([self._reference, self._turn])
        if options.action == "joint":
            motion = self._q = self._joints(motion)
        values = [*motion, self._last.width, self._last.stiffness]
        return dict(zip(session.action_names, map(float, values), strict=False))

    def _joints(self, motion: Array) -> Array:
        X = self._session.pose_matrix(motion)
        return kinematics.inverse_kinematics(X, self._q, F_T_EE=self._session.tool())
