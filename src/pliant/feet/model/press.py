"""A press: a slide that an actuator of the model pushes with a force."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.base.errors import ModelError, nearest
from pliant.model.interface import PartDefaults
from pliant.model.problem import Problem, Problems

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True, slots=True, kw_only=True)
class Press(PartDefaults):
    """A press: its force is the load that was chosen, until someone asks for another one.

    The actuator is a motor whose force is ``load`` plus its control.

    Example:
        >>> robot.devices.append(Press(name="press", actuator="load", joint="slide", load=300.0))
    """

    name: str
    """Name of the device."""
    actuator: str
    """Actuator of the model that pushes."""
    joint: str
    """Slide that it pushes; positive is away from the ground."""
    load: float = 0.0
    """Force without a command, positive towards the ground [N]."""
    low: float = -1000.0
    """Lowest force that is taken [N]."""
    high: float = 5000.0
    """Highest force that is taken [N]."""

    def __post_init__(self) -> None:
        if not self.low <= self.load <= self.high:
            raise ModelError(
                f"{self.name}: load is {self.load:g} N; must be from {self.low:g} to {self.high:g} N", field="load"
            )

    def prefixed(self, prefix: str) -> Press:
        """Return the description with the names of the device and of the model prefixed."""
        names = {key: prefix + getattr(self, key) for key in ("name", "actuator", "joint")}
        return dataclasses.replace(self, **names)

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Add nothing: actuator and slide are the model's own."""

    def finish(self, model: mujoco.MjModel) -> None:
        """Complete nothing."""

    def check(self, spec: mujoco.MjSpec) -> list[Problem]:
        """Return what is wrong with it on a model."""
        problems = Problems()
        for kind, name, every in (
            ("actuator", self.actuator, spec.actuators),
            ("joint", self.joint, spec.joints),
        ):
            valid = [item.name for item in every]
            if name not in valid:
                text = f"the {kind} {name!r} does not exist; {nearest(name, valid)}"
                problems.error(self.name, text, f"name a {kind} of the model")
        return problems
