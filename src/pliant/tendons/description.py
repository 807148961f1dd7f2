"""Description of a tendon-driven continuum robot: segments of a rod with disks, and tendons through their holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array, is_finite_number
from pliant.rods.checks import (
    check_finite,
    check_least,
    check_name,
    check_parts,
    check_whole,
    given,
    quantity,
    rigid_pose,
    vector,
)
from pliant.rods.description import Rectangular, Rod, Round

PARTS, MAX_PART_TURN = 16, 0.1
"""Parts between two disks at which tendons and rod are compared, at least; most turn of a tendon in one [rad]."""
MAX_TURN = 100.0
"""Most turn of a tendon between two disks [rad]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A piece of the backbone with equally spaced disks, the last at its end, where its tendons are fixed."""

    rod: Rod
    """The rod between the end of the segment before and this end."""
    disks: int = quantity("whole")
    """Number of disks, >= 1."""
    disk_radius: float = quantity("length")
    """Outer radius of a disk [m], > 0."""
    disk_mass: float = quantity("mass", 0.0)
    """Mass of each disk [kg], >= 0."""

    def __post_init__(self) -> None:
        if not isinstance(self.rod, Rod):
            raise ModelError(f"segment: rod is {self.rod!r}; must be a pliant.rods.Rod", field="rod")
        for key in ("distributed_force", "distributed_moment"):
            if any(getattr(self.rod, key)):
                raise ModelError(
                    f"segment: the rod has a {key} of {getattr(self.rod, key)}, which a robot with tendons does not "
                    "carry; must be 0. Use the loads of its statics",
                    field=key,
                )
        check_whole("segment", None, disks=self.disks)
        if self.disks < 1:
            raise ModelError(
                f"a segment of {1e3 * self.rod.length:g} mm has {self.disks} disks, so no tendon can end there; "
                "disks must be >= 1",
                field="disks",
            )
        check_least("segment", 1e-6, disk_radius=self.disk_radius)
        check_least("segment", 0.0, disk_mass=self.disk_mass)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tendon:
    """A tendon from the spool through the base plate and all disks up to the end of a segment.

    Its hole in the disk at the share s of the path has the polar angle ``angle + turn s`` and the radius that goes
    linearly from ``radius`` to ``tip_radius``; ``holes`` names each hole instead. The spool draws it in by a length d
    (positive shortens it); with the straight robot and d = 0 its tension is ``pretension``, or it hangs through by
    ``slack``. Tension along it: dT/ds = -mu |t'| T z, z = 1 while it slides towards the base (Euler and Eytelwein); z
    turns from one limit to the other over the slide 2 ``presliding`` and is remembered.
    """

    segment: int = quantity("whole")
    """Index of the segment at whose end it is fixed, from 0."""
    radius: float = quantity("length")
    """Distance from the rod's axis at the base plate [m], >= 0."""
    angle: float = quantity("angle")
    """Polar angle at the base plate, from d1 to d2 [rad]."""
    turn: float = quantity("angle", 0.0)
    """Turn of the routing about the rod from the base plate to the end [rad]; 0: straight, otherwise helical."""
    tip_radius: float | None = quantity("length", None)
    """Distance from the axis at its end [m]; None: as at the base."""
    holes: tuple[tuple[float, float], ...] = ()
    """Places (d1, d2) of its holes in the base plate and each disk [m], instead of radius and angle."""
    drive_stiffness: float | None = quantity("force per length", None)
    """Stiffness of servo, spool and mount [N/m], > 0; None: rigid."""
    axial_stiffness: float | None = quantity("force", None)
    """E A of the tendon [N], > 0; None: inextensible."""
    pretension: float = quantity("force", 0.0)
    """Tension of the straight robot at d = 0 [N], >= 0; needs an elastic tendon or drive."""
    slack: float = quantity("length", 0.0)
    """Length that must be drawn in before the straight robot's tendon is taut [m], >= 0."""
    friction: float = quantity("ratio", 0.0)
    """Coefficient of friction between tendon and holes, >= 0."""
    presliding: float = quantity("length", 1e-4)
    """Slide over which friction builds up from none to its limit [m], > 0."""  # assumed: stretch between two disks
    guide_angle: float = quantity("angle", 0.0)
    """Turning angle between spool and base plate [rad], >= 0: pulleys and tubes before the robot."""
    breaking_load: float = quantity("force", 100.0)
    """Largest tension [N], > 0."""  # assumed: braided PE line of 0.2 mm
    diameter: float = quantity("length", 3e-4)
    """Thickness, for the check of crossings [m]."""  # assumed

    def __post_init__(self) -> None:
        check_whole("tendon", None, segment=self.segment)
        check_finite("tendon", angle=self.angle, turn=self.turn)
        check_least(
            "tendon", 0.0, radius=self.radius, **given(tip_radius=self.tip_radius), pretension=self.pretension,
            slack=self.slack, friction=self.friction, guide_angle=self.guide_angle, diameter=self.diameter,
        )  # fmt: skip
        stiffness = given(drive_stiffness=self.drive_stiffness, axial_stiffness=self.axial_stiffness)
        check_least("tendon", 1e-9, **stiffness)
        check_least("tendon", 1e-9, presliding=self.presliding, breaking_load=self.breaking_load)
        self._check_holes()
        if self.pretension > self.breaking_load:
            raise ModelError(
                f"tendon: a pretension of {self.pretension:g} N breaks it; must be at most breaking_load, "
                f"{self.breaking_load:g} N",
                field="pretension",
            )
        if self.pretension > 0.0 and self.slack > 0.0:
            raise ModelError(
                f"tendon: it cannot have both a pretension of {self.pretension:g} N and a slack of "
                f"{1e3 * self.slack:g} mm; one of them must be 0",
                field="slack",
            )
        if self.pretension > 0.0 and self.drive_stiffness is None and self.axial_stiffness is None:
            raise ModelError(
                f"tendon: a pretension of {self.pretension:g} N needs a stretch, but tendon and drive are rigid; "
                "give drive_stiffness or axial_stiffness",
                field="pretension",
            )

    def _check_holes(self) -> None:
        if isinstance(self.holes, str) or not isinstance(self.holes, Sequence):
            raise ModelError(f"tendon: holes is {self.holes!r}; must be pairs of numbers", field="holes")
        for k, hole in enumerate(self.holes):
            pair = isinstance(hole, Sequence | np.ndarray) and not isinstance(hole, str) and len(hole) == 2
            if not (pair and all(is_finite_number(value) for value in hole)):
                raise ModelError(f"tendon: hole {k} is {hole!r}; must be two finite numbers", field="holes")

    def place(self, share: float) -> Array:
        """Return (d1, d2) of the routing at a share of the path in [0, 1], shape (2,) [m]."""
        tip = self.radius if self.tip_radius is None else self.tip_radius
        r, a = self.radius + share * (tip - self.radius), self.angle + share * self.turn
        return r * np.array([np.cos(a), np.sin(a)])

    def slope(self, share: float) -> Array:
        """Return the derivative of `place` by the share, shape (2,) [m]."""
        tip = self.radius if self.tip_radius is None else self.tip_radius
        r, a = self.radius + share * (tip - self.radius), self.angle + share * self.turn
        out, along = np.array([np.cos(a), np.sin(a)]), np.array([-np.sin(a), np.cos(a)])
        return (tip - self.radius) * out + r * self.turn * along


@dataclass(frozen=True, slots=True, kw_only=True)
class TendonRobotDescription:
    """A tendon-driven continuum robot. The undeformed rod runs along z of ``base``."""

    name: str
    """Name of the robot."""
    segments: tuple[Segment, ...]
    """Segments from the base outwards."""
    tendons: tuple[Tendon, ...]
    """Tendons; their order is that of commands and tensions."""
    base: Array = field(default_factory=lambda: np.eye(4))
    """Pose of the base plate in the world, shape (4, 4)."""
    gravity: tuple[float, float, float] = quantity("acceleration", (0.0, 0.0, -9.81), size=3)
    """Gravity in the world [m/s^2]."""
    tip_mass: float = quantity("mass", 0.0)
    """Mass at the last disk [kg], >= 0."""
    tip_offset: tuple[float, float, float] = quantity("length", (0.0, 0.0, 0.0), size=3)
    """Place of the tip (tool, marker) in axes of the last disk [m]."""
    links: Literal["chords", "curves"] = "chords"
    """``chords``: a tendon is straight between two disks. ``curves``: it follows its routing everywhere."""

    def __post_init__(self) -> None:
        check_name("tendon robot", self.name)
        check_parts(self.name, "segments", self.segments, Segment)
        check_parts(self.name, "tendons", self.tendons, Tendon)
        rigid_pose(self.name, "base", self.base)
        for key in ("gravity", "tip_offset"):
            vector(self.name, key, getattr(self, key))
        check_least(self.name, 0.0, tip_mass=self.tip_mass)
        if self.links not in ("chords", "curves"):
            raise ModelError(f"{self.name}: links is {self.links!r}; must be 'chords' or 'curves'", field="links")
        if not self.segments:
            raise ModelError(f"{self.name}: no segment; a robot needs at least one", field="segments")
        for i, tendon in enumerate(self.tendons):
            self._check_tendon(i, tendon)
        self._check_gaps()

    @property
    def length(self) -> float:
        """Length of the backbone [m]."""
        return sum(segment.rod.length for segment in self.segments)

    def disk_places(self) -> Array:
        """Return the arc lengths of base plate and disks [m]."""
        places, start = [0.0], 0.0
        for segment in self.segments:
            places += [start + segment.rod.length * (k + 1) / segment.disks for k in range(segment.disks)]
            start += segment.rod.length
        return np.array(places)

    def disk_radii(self) -> Array:
        """Return the outer radii of base plate and disks [m]."""
        radii = [self.segments[0].disk_radius]
        for segment in self.segments:
            radii += [segment.disk_radius] * segment.disks
        return np.array(radii)

    def holes_of(self, i: int) -> Array:
        """Return the places of a tendon's holes in base plate and disks up to its end, shape (holes, 2) [m]."""
        tendon = self.tendons[i]
        if tendon.holes:
            return np.asarray(tendon.holes, dtype=float)
        count = 1 + sum(segment.disks for segment in self.segments[: tendon.segment + 1])
        s = self.disk_places()[:count]
        return np.array([tendon.place(value / s[-1]) for value in s])

    def _check_tendon(self, i: int, tendon: Tendon) -> None:
        who = f"{self.name}: tendon {i}"
        if not 0 <= tendon.segment < len(self.segments):
            raise ModelError(
                f"{who} ends at segment {tendon.segment} and passes no disk of it; "
                f"valid are 0 to {len(self.segments) - 1}",
                field="segment",
            )
        count = 1 + sum(segment.disks for segment in self.segments[: tendon.segment + 1])
        if tendon.holes and len(tendon.holes) != count:
            raise ModelError(
                f"{who} has {len(tendon.holes)} holes; base plate and disks up to its end are {count}", field="holes"
            )
        if tendon.holes and self.links == "curves":
            raise ModelError(f"{who} has holes, which need links 'chords', not 'curves'", field="holes")
        if abs(tendon.turn) > MAX_TURN * (count - 1):
            raise ModelError(
                f"{who} turns by {abs(tendon.turn):.4g} rad; must be at most {MAX_TURN * (count - 1):g} rad, "
                f"{MAX_TURN:g} between two disks",
                field="turn",
            )
        radii, places = self.disk_radii(), self.disk_places()
        for k, hole in enumerate(self.holes_of(i)):
            if np.hypot(*hole) > radii[k]:
                at = "the base plate" if k == 0 else f"disk {k} at {1e3 * places[k]:g} mm"
                raise ModelError(
                    f"{who} leaves {at}: its hole is {1e3 * np.hypot(*hole):.4g} mm from the axis, the disk's radius "
                    f"is {1e3 * radii[k]:.4g} mm; must be at most that",
                    field="radius",
                )

    def _half_section(self, s: float) -> tuple[float, float, float]:
        """Return half the sides, and the radius, of the rod's section at an arc length [m]; 0 without a size."""
        for segment in self.segments:
            if s <= segment.rod.length * (1.0 + 1e-12):
                break
            s -= segment.rod.length
        share = min(1.0, s / segment.rod.length)
        section = segment.rod.section.cut(share, share)
        if isinstance(section, Round):
            return 0.0, 0.0, section.radius
        if isinstance(section, Rectangular):
            return 0.5 * section.width, 0.5 * section.height, 0.0
        return 0.0, 0.0, 0.0

    def _track(self, i: int, parts: int) -> Array:
        """Return the places (d1, d2) of a tendon at so many equal parts between two disks [m], shape (K, 2)."""
        holes = self.holes_of(i)
        at = np.arange(1 + parts * (len(holes) - 1)) / parts
        if self.links == "chords":
            return np.column_stack([np.interp(at, np.arange(len(holes)), column) for column in holes.T])
        places = self.disk_places()[: len(holes)]
        shares = np.interp(at, np.arange(len(holes)), places / places[-1])
        return np.array([self.tendons[i].place(share) for share in shares])

    def _check_gaps(self) -> None:
        """Refuse tendons of which two, or one and the rod, would be in the same place of the undeformed robot."""
        places = self.disk_places()
        turns = [
            abs(t.turn) / (len(self.holes_of(i)) - 1) for i, t in enumerate(self.tendons) if self.links == "curves"
        ]
        parts = max(PARTS, int(np.ceil(max(turns, default=0.0) / MAX_PART_TURN)))
        tracks = [self._track(i, parts) for i in range(len(self.tendons))]
        at = np.interp(np.arange(1 + parts * (len(places) - 1)) / parts, np.arange(len(places)), places)
        half = np.array([self._half_section(s) for s in at])
        for i, a in enumerate(tracks):
            name, own = f"{self.name}: tendon {i}", 0.5 * self.tendons[i].diameter
            gap = np.hypot(*np.maximum(np.abs(a) - half[: len(a), :2], 0.0).T) - half[: len(a), 2]
            k = int(np.argmin(gap))
            if gap[k] < own - 1e-9 and np.any(half[k] > 0.0):
                raise ModelError(
                    f"{name} lies in the rod {1e3 * at[k]:.4g} mm from the base: its axis is "
                    f"{1e3 * (gap[k] + half[k, 2]):.3g} mm from the {'axis' if half[k, 2] else 'sides'} of the rod, "
                    f"must be at least {1e3 * (own + half[k, 2]):.3g} mm there",
                    field="radius",
                )
            for j, b in enumerate(tracks[:i]):
                count = min(len(a), len(b))
                d0 = a[:count] - b[:count]
                change = np.diff(d0, axis=0)
                size = np.maximum(np.sum(change**2, axis=1), 1e-300)
                share = np.clip(-np.sum(d0[:-1] * change, axis=1) / size, 0.0, 1.0)
                gap = np.hypot(*(d0[:-1] + share[:, None] * change).T)
                k, limit = int(np.argmin(gap)), own + 0.5 * self.tendons[j].diameter
                if gap[k] < limit:
                    where = at[k] + share[k] * (at[k + 1] - at[k])
                    raise ModelError(
                        f"{self.name}: tendons {j} and {i} cross {1e3 * where:.4g} mm from the base: "
                        f"their axes are {1e3 * gap[k]:.3g} mm apart there, must be at least {1e3 * limit:.3g} mm",
                        field="tendons",
                    )
