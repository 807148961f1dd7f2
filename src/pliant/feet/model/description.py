"""Descriptions of feet that replace a robot's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import mujoco

from pliant.base.errors import ModelError

Side = Literal["left", "right"]


@runtime_checkable
class FootDescription(Protocol):
    """A foot that can be built for either side.

    Its spec has the ankle at the origin, x to the toes, y to the left, z up, and no ground.
    """

    @property
    def label(self) -> str:
        """Name in messages, such as "SoftFoot"."""
        ...

    @property
    def remark(self) -> str:
        """Note for the user where the foot carries less than is wanted; "" where there is none."""
        ...

    @property
    def keeps_compliance(self) -> bool:
        """Whether the closures (equalities connect and weld) keep their compliance on whatever carries the foot.

        MuJoCo's constraints get softer the lighter the bodies that they join; see `closures`.
        """
        ...

    def for_side(self, side: Side) -> FootDescription:
        """Return the foot of that side."""
        ...

    def build_foot(self, timestep: float) -> mujoco.MjSpec:
        """Return the foot, for a step [s].

        Raises:
            ModelError: the foot is not valid, or the step is too long for it.
        """
        ...


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class GivenFoot:
    """A foot that is given as a spec; it has no mirror image."""

    spec: mujoco.MjSpec
    """The foot; it is copied, not changed."""

    @property
    def label(self) -> str:
        """Name in messages."""
        return self.spec.modelname or "foot"

    @property
    def remark(self) -> str:
        """Nothing is known of a foot that is given."""
        return ""

    @property
    def keeps_compliance(self) -> bool:
        """The closures keep the compliance that they have in the spec."""
        return True

    def for_side(self, side: Side) -> GivenFoot:
        """Return this foot, whatever the side."""
        return self

    def build_foot(self, timestep: float) -> mujoco.MjSpec:
        """Return a copy.

        Raises:
            ModelError: the spec has a moving base.
        """
        spec = self.spec.copy()
        for body in spec.worldbody.bodies:
            if body.joints:
                raise ModelError(
                    f"the foot's body {body.name!r} moves on the joint {body.joints[0].name!r}; the root of a foot "
                    "must have no joint, because it is fixed to the robot's ankle",
                    field=body.name,
                )
        spec.option.timestep = timestep
        return spec
