"""Description of a concentric-tube robot: precurved tubes in each other, turned and pushed at their bases."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.rods.checks import check_above, check_least, check_name, check_parts, quantity, rigid_pose, vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Tube:
    """A tube with a straight part at its base and a part of constant curvature at its end.

    The unloaded tube bends towards its own x axis; its rotation turns this axis about z of the robot's base.
    """

    length: float = quantity("length")
    """Length of the whole tube [m], > 0."""
    curved_length: float = quantity("length")
    """Length of the curved part at the end [m], 0 to `length`."""
    curvature: float = quantity("curvature")
    """Curvature of this part without load [1/m], >= 0."""
    outer_radius: float = quantity("length")
    """Outer radius [m], > `inner_radius`."""
    inner_radius: float = quantity("length")
    """Inner radius [m], >= 0; 0: a wire."""
    young_modulus: float = quantity("pressure", 60e9)
    """E [Pa]; superelastic nitinol, austenite: 41 to 75 GPa in data sheets."""
    shear_modulus: float = quantity("pressure", 23e9)
    """G [Pa]; E / (2 (1 + 0.3))."""
    density: float = quantity("density", 0.0)
    """Mass per volume [kg/m^3], >= 0; 0: weight is left out; nitinol: 6450."""

    def __post_init__(self) -> None:
        check_above(
            "tube", 0.0, length=self.length, outer_radius=self.outer_radius, young_modulus=self.young_modulus,
            shear_modulus=self.shear_modulus,
        )  # fmt: skip
        check_least(
            "tube", 0.0, curved_length=self.curved_length, curvature=self.curvature, inner_radius=self.inner_radius,
            density=self.density,
        )  # fmt: skip
        if self.inner_radius >= self.outer_radius:
            raise ModelError(
                f"tube: the inner radius of {1e3 * self.inner_radius:g} mm must be less than the outer radius of "
                f"{1e3 * self.outer_radius:g} mm",
                field="inner_radius",
            )
        if self.curved_length > self.length:
            raise ModelError(
                f"tube: the curved part of {1e3 * self.curved_length:g} mm is longer than the tube; must be at most "
                f"{1e3 * self.length:g} mm",
                field="curved_length",
            )
        if self.curvature * self.outer_radius >= 1.0:
            raise ModelError(
                f"tube: a curvature of {self.curvature:g} 1/m has a radius below the tube's own; must be less than "
                f"{1.0 / self.outer_radius:g} 1/m",
                field="curvature",
            )
        if self.length > 100.0 * max(1.0, self.outer_radius):
            raise ModelError(
                f"tube: length is {self.length:g} m. Lengths are in metres: write 0.2 for 200 mm", field="length"
            )

    @property
    def bending(self) -> float:
        """Bending stiffness E I [N m^2]."""
        return self.young_modulus * math.pi / 4.0 * (self.outer_radius**4 - self.inner_radius**4)

    @property
    def torsion(self) -> float:
        """Torsional stiffness G J [N m^2]."""
        return self.shear_modulus * math.pi / 2.0 * (self.outer_radius**4 - self.inner_radius**4)

    @property
    def mass(self) -> float:
        """Mass per length [kg/m]."""
        return self.density * math.pi * (self.outer_radius**2 - self.inner_radius**2)


@dataclass(frozen=True, slots=True, kw_only=True)
class TubesDescription:
    """A concentric-tube robot. Its tubes leave a straight guide at ``base``, whose z axis they are on."""

    name: str
    """Name of the robot."""
    tubes: tuple[Tube, ...]
    """Tubes, the innermost first."""
    translation: tuple[float, ...] = ()
    """Places of the tubes' bases behind the end of the guide at home [m], <= 0; (): nine tenths of each tube is
    outside as far as the order of the tubes permits."""
    base: Array = field(default_factory=lambda: np.eye(4))
    """Pose of the guide's end in the world, shape (4, 4)."""
    gravity: tuple[float, float, float] = quantity("acceleration", (0.0, 0.0, -9.81), size=3)
    """Gravity in the world [m/s^2]."""

    def __post_init__(self) -> None:
        check_name("tubes", self.name)
        check_parts(self.name, "tubes", self.tubes, Tube)
        vector(self.name, "gravity", self.gravity)
        rigid_pose(self.name, "base", self.base)
        if not self.tubes:
            raise ModelError(f"{self.name}: no tube; a robot needs at least one", field="tubes")
        for i in range(1, len(self.tubes)):
            inner, outer = self.tubes[i - 1], self.tubes[i]
            if outer.inner_radius < inner.outer_radius:
                raise ModelError(
                    f"{self.name}: tube {i - 1} does not fit into tube {i}: its outer radius is "
                    f"{1e3 * inner.outer_radius:g} mm and the inner radius of tube {i} is "
                    f"{1e3 * outer.inner_radius:g} mm, which must be at least that (the innermost tube is first)",
                    field="inner_radius",
                )
        self.checked(self.home)

    @property
    def home(self) -> Array:
        """Places of the bases without a command, shape (N,) [m]."""
        if self.translation:
            return np.array(self.translation, dtype=float)
        ends, last = [], np.inf
        for tube in self.tubes:
            last = min(last, 0.9 * tube.length)
            ends.append(last)
        return np.array(ends) - np.array([tube.length for tube in self.tubes])

    def checked(self, translation: ArrayLike) -> Array:
        """Return places of bases, shape (N,) [m].

        Raises:
            ModelError: a tube would be pulled out of the guide or pushed through it, or two tubes exclude each other.
        """
        beta = np.asarray(translation, dtype=float)
        N = len(self.tubes)
        if beta.shape != (N,) or not np.all(np.isfinite(beta)):
            raise ModelError(
                f"{self.name}: translation needs {N} finite numbers [m], found {np.asarray(translation).tolist()}",
                field="translation",
            )
        end = beta + np.array([tube.length for tube in self.tubes])
        for i, tube in enumerate(self.tubes):
            who = f"{self.name}: tube {i}"
            if beta[i] > 0.0:
                raise ModelError(
                    f"{who}: its base is {1e3 * beta[i]:.4g} mm before the guide's end; must be <= 0",
                    field="translation",
                )
            if end[i] < 0.0 or (i == 0 and end[i] <= 0.0):
                raise ModelError(
                    f"{who} has a negative extension of {1e3 * end[i]:.4g} mm: its base is at {1e3 * beta[i]:.4g} mm; "
                    f"must be {'above' if i == 0 else 'at least'} {-1e3 * tube.length:.4g} mm",
                    field="translation",
                )
            if i and beta[i] < beta[i - 1] - 1e-12:
                raise ModelError(
                    f"{who} hides the base of tube {i - 1}: it is at {1e3 * beta[i]:.4g} mm; must be at least "
                    f"{1e3 * beta[i - 1]:.4g} mm",
                    field="translation",
                )
            if i and end[i] > end[i - 1] + 1e-12:
                raise ModelError(
                    f"{who} reaches {1e3 * end[i]:.4g} mm, beyond tube {i - 1} in it, which ends at "
                    f"{1e3 * end[i - 1]:.4g} mm; its base must be at most {1e3 * (end[i - 1] - tube.length):.4g} mm",
                    field="translation",
                )
        return beta
