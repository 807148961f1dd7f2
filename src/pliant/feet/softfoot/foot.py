"""The SoftFoot as the foot of a robot."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal

from pliant.feet.softfoot.generator import softfoot
from pliant.feet.softfoot.options import SoftFootOptions
from pliant.feet.softfoot.parameters import CHAINS


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftFoot(SoftFootOptions):
    """A SoftFoot that `pliant.feet.replace_foot` puts on a robot, mirrored for the side that it is on.

    Example:
        >>> replace_foot(robot, "left_ankle", SoftFoot(n_chains=1, lump=True, coupling="midpoint", tendon="fixed"))
    """

    @property
    def label(self) -> str:
        """Name in messages."""
        return "SoftFoot"

    @property
    def remark(self) -> str:
        """That fewer chains than five carry as fewer, unless they are lumped."""
        if self.lump or self.n_chains >= CHAINS:
            return ""
        chains = "1 chain" if self.n_chains == 1 else f"{self.n_chains} chains"
        return f"the foot has {chains} of its {CHAINS}, as light and as soft; lump=true lets them stand for all"

    @property
    def keeps_compliance(self) -> bool:
        """Whether `closure_compliance` holds on the robot; with ``release_quirks`` the time constant does."""
        return not self.release_quirks

    def for_side(self, side: Literal["left", "right"]) -> SoftFoot:
        """Return the same foot for a side."""
        return dataclasses.replace(self, side=side)

    def build_foot(self, timestep: float) -> object:
        """Return the foot as a `mujoco.MjSpec`, for a step [s].

        Raises:
            ModelError: a value that is not valid, or a closure compliance that is too small for the step.
        """
        return softfoot(self, timestep=timestep)
