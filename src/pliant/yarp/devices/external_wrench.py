"""Pushes on the links of a robot: forces and torques that a client asks for, each for some time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import DeviceError, nearest
from pliant.devices.base import DeviceBase, DeviceOptions, FieldInfo, request
from pliant.devices.kinds import device_for
from pliant.engine.base import Engine
from pliant.model.robot import Robot
from pliant.yarp.model.services import ExternalWrench

MAX_PUSHES = 100
"""Most pushes at one time."""


@dataclass(slots=True)
class _Push:
    """One push that is under way."""

    link: str
    """Link that is pushed."""
    wrench: NDArray[np.float64]
    """Force [N] and torque [N m] in world axes, at the centre of mass, shape (6,)."""
    until_ns: int
    """When it ends [ns]."""


@device_for(ExternalWrench)
class ExternalWrenchDevice(DeviceBase):
    """Pushes links with forces and torques in world axes, which act at the link's centre of mass.

    In the mode single, which is that at the start, a new push ends the one before; in the mode multiple pushes add up.
    What others apply to the same links stays.

    Args:
        description: the service.
        robot: the robot; every body of the model can be pushed.
        options: of `DeviceBase`.
    """

    signatures = ("external_wrench",)

    def __init__(self, description: ExternalWrench, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        samples = {
            "pushes": FieldInfo((), "", "number of pushes that are under way"),
            "pushed_force": FieldInfo((3,), "N", "sum of their forces, in world axes"),
            "pushed_torque": FieldInfo((3,), "N m", "sum of their torques, in world axes"),
        }
        super().__init__(description.name, samples=samples, **options)
        self.metadata = {"port": description.port}
        self._links = tuple(body.name for body in robot.spec.bodies if body.name and body.name != "world")
        self._pushes: list[_Push] = []
        self._several = False

    def _connect(self, engine: Engine) -> None:
        known = engine.ports()
        self._ports = {
            link: engine.port(f"body/{link}/wrench") for link in self._links if f"body/{link}/wrench" in known
        }

    def _restart(self, rng: np.random.Generator) -> None:
        self._pushes.clear()
        self._applied: dict[str, NDArray[np.float64]] = {}
        self._several = False

    def _firmware(self) -> None:
        pushes, applied = self._pushes, self._applied
        if not pushes and not applied:
            return
        now = self._engine.time_ns
        pushes[:] = [push for push in pushes if push.until_ns > now]
        wanted: dict[str, NDArray[np.float64]] = {}
        for push in pushes:
            wanted[push.link] = wanted.get(push.link, 0.0) + push.wrench
        for link in {*wanted, *applied}:
            self._ports[link] += wanted.get(link, 0.0) - applied.get(link, 0.0)
        self._applied = wanted

    def _measure(self) -> dict[str, float | np.ndarray]:
        total = sum((push.wrench for push in self._pushes), np.zeros(6))
        return {"pushes": float(len(self._pushes)), "pushed_force": total[:3], "pushed_torque": total[3:]}

    @request
    def push(self, link: str, force: Sequence[float], torque: Sequence[float], duration: float) -> None:
        """Push a link: force [N] and torque [N m] in world axes, for a time [s].

        Raises:
            DeviceError: no such link, numbers that are not finite, a time that is not above 0, or too many pushes.
        """
        name = link if link in self._ports else self._suffixed(link)
        wrench = np.array([*force, *torque], dtype=float)
        if wrench.shape != (6,) or not np.isfinite(wrench).all():
            raise DeviceError(
                f"{self.name}: the push is {wrench.tolist()}; must be three forces and three torques, all finite",
                field="force",
            )
        if not 0.0 < duration < 1e9:
            raise DeviceError(f"{self.name}: the duration is {duration!r} s; must be > 0 and finite", field="duration")
        if not self._several:
            self._pushes.clear()
        if len(self._pushes) >= MAX_PUSHES:
            raise DeviceError(f"{self.name}: {MAX_PUSHES} pushes are under way; wait until one ends", field="pushes")
        self._pushes.append(_Push(name, wrench, self._engine.time_ns + round(duration * 1e9)))

    def _suffixed(self, link: str) -> str:
        """Return the body whose name ends with a link's, as scoped names of models do."""
        ends = [name for name in self._ports if name.split("/")[-1] == link.split("::")[-1]]
        if len(ends) != 1:
            raise DeviceError(f"{self.name}: there is no link {link!r}; {nearest(link, self._ports)}", field="link")
        return ends[0]

    @request
    def allow_several(self, on: bool = True) -> None:
        """Choose whether pushes add up (multiple) or a new one ends the one before (single)."""
        self._several = bool(on)
