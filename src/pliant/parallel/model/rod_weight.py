"""The weight of a rod that changes its length: what depends on the gravity of the spec."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.numerics import Array

FAR = 1e4
"""Distance of the point from which the tendon of the weights hangs [m]: it pulls within 1e-4 rad of the vertical."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """The weight of one extensible limb."""

    joint: str
    """Joint of the spool."""
    length: float
    """Rest length at the start [m]."""
    mass: Array
    """Masses of the rod, shape (n,) [kg]."""
    position: Array
    """Where they are at the start, world axes, shape (n, 3) [m]."""

    def install(self, spec: mujoco.MjSpec) -> None:
        """Let the weight of the rod grow with its length, under the gravity of the spec."""
        spool = spec.body(f"{self.joint}/spool")
        gravity = np.asarray(spec.option.gravity, dtype=float)
        size = float(np.linalg.norm(gravity))
        down = gravity / size if size > 0.0 else np.array([0.0, 0.0, -1.0])
        ratio = self.mass / self.mass[0]
        k = size * float(self.mass[0]) / (self.length * float(ratio.sum()))
        far = np.asarray(spool.pos) + FAR * down
        spec.joint(self.joint).axis = down
        spec.tendon(f"{self.joint}/store").stiffness = [-k * float(ratio.sum()) ** 2, 0.0, 0.0]
        spec.site(f"{self.joint}/weight").pos = FAR * down
        spec.site(f"{self.joint}/ground").pos = far
        length = float(ratio @ np.linalg.norm(far - self.position, axis=1))
        for name, stiffness in (("weight", k), ("ground", -k)):
            tendon = spec.tendon(f"{self.joint}/{name}")
            tendon.stiffness, tendon.springlength = [stiffness, 0.0, 0.0], [length, length]
