"""Events of a scenario that act on bodies of the model: payloads and external forces."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.devices.base import Device
from pliant.engine.base import Engine, MujocoState, mujoco_state
from pliant.events.event import Ending, EventBase, duration_problem, end_later

if TYPE_CHECKING:
    from pliant.simulation.loop import Simulation


class SetPayload(EventBase, frozen=True, kw_only=True, tag="payload"):
    """Attach a point mass to a body, replacing its current payload; a reset removes it."""

    body: str
    """Name of the body, which must move and be subject to gravity."""
    mass: float
    """Mass [kg], from 0 to 1e4; 0 removes the payload."""
    offset: list[float] | None = None
    """Position in the frame of the body [m]; None for the centre of mass of the body."""
    duration: float | None = None
    """Duration [s], > 0, after which the body carries no payload; None until another event or a reset."""

    def problem(self, devices: Mapping[str, Device], engine: Engine) -> str:
        """Return the error of the event for this engine; "" if there is none."""
        if not isinstance(engine, MujocoState):
            return f"{type(engine).__name__} has no payloads; must be a MujocoEngine"
        try:
            engine.payloads.check(self.body, self.mass, self.offset)
        except ModelError as error:
            return error.message.removeprefix("payload: ")
        return duration_problem(self.duration)

    def apply(self, simulation: Simulation) -> Ending | None:
        """Attach the payload."""
        engine = mujoco_state(simulation.engine, "set_payload")
        engine.set_payload(self.body, self.mass, self.offset)
        return end_later(
            self, self.duration, simulation, simulation.engine.dt, lambda: engine.set_payload(self.body, 0.0)
        )


class ExternalForce(EventBase, frozen=True, kw_only=True, tag="external_force"):
    """Apply a force and a torque to a body, for a limited time or until a reset. Forces of others stay."""

    body: str
    """Name of the body."""
    force: list[float]
    """Force at the centre of mass of the body, in world axes [N]."""
    torque: list[float] = msgspec.field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Torque, in world axes [N m]."""
    duration: float | None = None
    """Duration [s], > 0; None until a reset."""

    def problem(self, devices: Mapping[str, Device], engine: Engine) -> str:
        """Return the error of the event for this engine; "" if there is none."""
        for name, value in (("force", self.force), ("torque", self.torque)):
            if len(value) != 3 or not all(math.isfinite(number) for number in value):
                return f"{name} is {value!r}; must be a list of 3 finite numbers"
        if self._port not in engine.ports():
            bodies = re.findall("^body/(.*)/wrench$", "\n".join(engine.ports()), re.MULTILINE)
            return f"there is no body {self.body!r}; {nearest(self.body, bodies)}"
        return duration_problem(self.duration)

    def apply(self, simulation: Simulation) -> Ending | None:
        """Add the force to what acts on the body."""
        port, wrench = simulation.engine.port(self._port), np.array([*self.force, *self.torque])
        port += wrench
        resets, acts = simulation.resets, True

        def end() -> None:
            nonlocal acts
            if acts and simulation.resets == resets:  # a reset has cleared all forces
                port[:] -= wrench
            acts = False

        return end_later(self, self.duration, simulation, simulation.engine.dt, end)

    @property
    def _port(self) -> str:
        return f"body/{self.body}/wrench"
