"""The camera of one page, which goes along with a robot that walks, beside what a person does with it."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import viser

LOADING_S = 3.0
"""How long a new page may tell another place of its camera than it was given [s]: its browser still loads."""
STEP = 0.002
"""Smallest way that the camera follows, over the size of the robot."""
SAME = 1e-4
"""How near a place is the one that was given, over the size of the robot."""
MEMORY = 200
"""How many of the last places are kept: a browser may tell them late."""


class FollowingCamera:
    """Keeps the camera of a page where it is seen from the robot.

    A browser tells where its camera is, later than it was told to go there. What it tells is therefore compared with
    the places that it was given: only another place is one that a person chose.

    Args:
        client: viser's client.
        first: the first place of the camera and what it looks at, with the robot at its start [m].
        size: of the robot [m].
    """

    def __init__(self, client: viser.ClientHandle, first: np.ndarray, size: float) -> None:
        self._client, self._size = client, size
        self._since = time.monotonic()
        self._offset = first
        self._known = np.zeros(3)
        """Where the robot is in the picture that a person sees [m]."""
        self._given: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=MEMORY)
        self._last: np.ndarray | None = None

    def follow(self, gone: np.ndarray, on: bool) -> None:
        """Go along.

        Args:
            gone: how far the robot is from its start [m].
            on: False: stay where the person has left the camera.
        """
        told = np.array([self._client.camera.position, self._client.camera.look_at])
        if time.monotonic() - self._since >= LOADING_S:
            self._hear(told)
        if not on:
            self._offset, self._known = told - gone, gone
            self._given.clear()
            self._last = None
            return
        place = self._offset + gone
        if self._last is not None and np.abs(place - self._last).max() < STEP * self._size:
            return
        self._last = place
        self._given.append((place, gone))
        with self._client.atomic():
            self._client.camera.position, self._client.camera.look_at = place

    def _hear(self, told: np.ndarray) -> None:
        """Take up where a person has put the camera."""
        for place, gone in reversed(self._given):
            if np.abs(place - told).max() < SAME * self._size:
                self._known = gone
                return
        self._offset = told - self._known
