"""Benches of one compliant joint with a load: those of Mengacci et al. 2021, section 4.1, and two of its kind."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.base.options import option
from pliant.joints.options import JointOptions, actuator
from pliant.joints.qbmove import CUBE, SPRINGS, add_cube, spring_law
from pliant.robots.catalogue import CatalogueRobot
from pliant.robots.parts import box, capsule, cylinder, finished, interface_of, look_at, new_spec

if TYPE_CHECKING:
    import mujoco

    from pliant.laws import CompliantActuator, Law, PreslidingFriction
    from pliant.model import Robot

_PAPER = "Mengacci et al. 2021, section 4.1"
_DOI = "Mengacci et al. 2021, doi 10.3389/frobt.2021.713083"
MINIMAL_INERTIA = 1.0e-12
"""Stands for no inertia of its own [kg m^2]: MuJoCo wants moving bodies to have some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions(JointOptions):
    """Common options of all benches."""

    mounting: str = option(
        "horizontal",
        choices=("horizontal", "hanging"),
        source="assumed: the toolbox's template is horizontal, the paper does not say",
    )
    """Pose of the arm at q = 0: horizontal (load m g l cos q) or hanging (m g l sin q)."""
    load_mass: float = option(0.2, unit="kg", low=0.0, high=100.0, source=_PAPER)
    """Mass of the load, a point."""
    load_distance: float = option(0.04, unit="m", low=0.0, high=2.0, source=_PAPER)
    """Distance of the load from the axis."""
    link_inertia: float = option(0.002, unit="kg m^2", low=0.0, high=100.0, source="URDF templates of the toolbox")
    """Inertia of the link without the load, about the axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SEAOptions(BenchOptions):
    """Options of ``sea-1dof``."""

    k: float = option(200.0, unit="N m/rad", low=0.0, high=1e6, source=_PAPER)
    """Stiffness of the spring; the paper's soft case, its stiff one has 400."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QbMoveOptions(BenchOptions):
    """Options of ``qbmove-1dof``."""

    springs: str = option("toolbox", choices=tuple(SPRINGS), source="see pliant.joints.qbmove.SPRINGS")
    """Set of spring parameters."""
    preset: float = option(0.2, unit="rad", low=-3.0, high=3.0, source=_PAPER)
    """Stiffness preset before the first command; the paper's soft case, its stiff one has 0.6."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BAVSOptions(BenchOptions):
    """Options of ``bavs-1dof``."""

    preset: float = option(0.001, unit="rad", low=-3.0, high=3.0, source=_PAPER)
    """Stiffness preset before the first command; the paper's soft case, its stiff one has 0.22."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwAS2Options(BenchOptions):
    """Options of ``awas2-1dof``."""

    preset: float = option(0.005, unit="m", low=0.0, high=0.049, source=_PAPER)
    """Lever position before the first command: the paper's soft case; its stiff one has 0.04."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions(BenchOptions):
    """Options of ``sea-table-1dof``."""

    table: Path | None = option(None, source="assumed")  # noqa: RUF009
    """CSV file of the spring, with the columns deflection [rad] and torque [N m]; None for a hardening spring, which is
    assumed."""
    odd: bool = option(True, source="assumed")
    """Whether the table has deflections >= 0 only, and the spring behaves equally in both directions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MuscleOptions(BenchOptions):
    """Options of ``pam-1dof``."""

    load_mass: float = option(2.0, unit="kg", low=0.0, high=100.0, source="assumed")
    load_distance: float = option(0.25, unit="m", low=0.0, high=2.0, source="assumed")
    link_inertia: float = option(0.02, unit="kg m^2", low=0.0, high=100.0, source="assumed")
    preset: float = option(1.5e5, unit="Pa", low=0.0, high=1.0e6, source="assumed")
    """Mean gauge pressure of the muscles before the first command."""
    hysteresis: bool = option(True, source="assumed")
    """Whether the threads of the braid have friction, which gives the muscles their hysteresis."""
    mode: int = option(6, low=0, high=6, source="assumed")


# -- law and looks of each ---------------------------------------------------------------------------------


def _law(bench: Bench, options: BenchOptions) -> Law:
    """Return the law of a bench with its options."""
    from pliant.laws import get_law

    if isinstance(options, QbMoveOptions):
        return spring_law(options.springs)
    return get_law(bench.law)(**{name: getattr(options, name) for name in bench.parameters})


def _draw_sea(stand: mujoco.MjsBody) -> None:
    """A slim motor, and between it and the link the torsion bar in its cage."""
    box(stand, (0.044, 0.030, 0.044), (0.0, 0.062, 0.0), "housing")
    cylinder(stand, (0.0, 0.060, 0.0), (0.0, 0.118, 0.0), 0.025, "housing")
    cylinder(stand, (0.0, 0.088, 0.0), (0.0, 0.096, 0.0), 0.0258, "blue")
    cylinder(stand, (0.0, 0.040, 0.0), (0.0, 0.047, 0.0), 0.026, "trim")
    cylinder(stand, (0.0, 0.024, 0.0), (0.0, 0.060, 0.0), 0.008, "metal")


def _draw_qbmove(stand: mujoco.MjsBody) -> None:
    """One cube."""
    add_cube(stand, "y", pos=(0.0, 0.020 + 0.5 * CUBE, 0.0))


def _draw_bavs(stand: mujoco.MjsBody) -> None:
    """A round gear case with its two motors behind it."""
    cylinder(stand, (0.0, 0.024, 0.0), (0.0, 0.058, 0.0), 0.032, "housing")
    cylinder(stand, (0.0, 0.036, 0.0), (0.0, 0.044, 0.0), 0.0328, "orange")
    box(stand, (0.030, 0.020, 0.045), (0.0, 0.060, -0.030), "stand")
    for side in (-1.0, 1.0):
        cylinder(stand, (side * 0.0165, 0.058, 0.0), (side * 0.0165, 0.112, 0.0), 0.0145, "trim")
        cylinder(stand, (side * 0.0165, 0.112, 0.0), (side * 0.0165, 0.116, 0.0), 0.006, "metal")


def _draw_awas2(stand: mujoco.MjsBody) -> None:
    """The main motor, and across it the lever with its pivot, moved by a screw."""
    cylinder(stand, (0.0, 0.050, 0.0), (0.0, 0.118, 0.0), 0.028, "housing")
    cylinder(stand, (0.0, 0.094, 0.0), (0.0, 0.102, 0.0), 0.0288, "blue")
    box(stand, (0.090, 0.016, 0.040), (0.0, 0.042, 0.0), "housing")
    box(stand, (0.074, 0.004, 0.010), (0.0, 0.033, 0.010), "metal")
    cylinder(stand, (-0.040, 0.034, -0.010), (0.040, 0.034, -0.010), 0.003, "metal")
    cylinder(stand, (0.018, 0.029, 0.010), (0.018, 0.036, 0.010), 0.006, "orange")
    cylinder(stand, (0.045, 0.042, -0.010), (0.075, 0.042, -0.010), 0.009, "trim")


def _draw_muscles(stand: mujoco.MjsBody) -> None:
    """Two muscles side by side behind the axis, and the pulley on which they pull."""
    cylinder(stand, (0.0, 0.034, 0.0), (0.0, 0.050, 0.0), 0.025, "metal")
    for side in (-0.025, 0.025):
        capsule(stand, (-0.245, 0.042, side), (-0.045, 0.042, side), 0.011, "trim")
        cylinder(stand, (-0.285, 0.042, side), (-0.245, 0.042, side), 0.007, "metal")
        cylinder(stand, (-0.045, 0.042, side), (0.0, 0.042, side), 0.0025, "orange")
    box(stand, (0.012, 0.030, 0.080), (-0.290, 0.042, 0.0), "stand")
    box(stand, (0.012, 0.030, 0.100), (-0.290, 0.042, -0.090), "stand")


# -- the bench ---------------------------------------------------------------------------------------------

AXIS_HEIGHT = 0.14
"""Height of the bench's axis over the floor [m]; for the eye only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Properties in which one bench differs from the others."""

    name: str
    """Name in the catalogue."""
    summary: str
    """Description in one line."""
    options: type[BenchOptions]
    """Its options."""
    law: str
    """Name of its law."""
    parameters: tuple[str, ...] = ()
    """Options that are parameters of the law."""
    draw: Callable[[mujoco.MjsBody], None]
    """Draws the actuator's housing onto the stand, at y > 0; the origin is on the axis."""
    source: str = f"{_DOI}, section 4.1"
    """Source of the numbers."""
    assumed: str = ""
    """A further assumption."""


BENCHES = (
    Bench(
        name="sea-1dof",
        summary="One joint with a series elastic actuator and a load.",
        options=SEAOptions,
        law="sea",
        parameters=("k",),
        draw=_draw_sea,
    ),
    Bench(
        name="qbmove-1dof",
        summary="One joint with a qbMove Advanced and a load.",
        options=QbMoveOptions,
        law="qbmove",
        draw=_draw_qbmove,
        source=f"{_DOI}, sections 4.1 and 4.2.1",
    ),
    Bench(
        name="bavs-1dof",
        summary="One bidirectional antagonistic variable stiffness joint (BAVS) with a load.",
        options=BAVSOptions,
        law="bavs",
        draw=_draw_bavs,
    ),
    Bench(
        name="awas2-1dof",
        summary="One joint whose stiffness a lever adjusts (AwAS-II), with a load.",
        options=AwAS2Options,
        law="awas_ii",
        draw=_draw_awas2,
    ),
    Bench(
        name="pam-1dof",
        summary="One joint with a pair of pneumatic muscles, and a load.",
        options=MuscleOptions,
        law="pam",
        draw=_draw_muscles,
        source="equations: Tondu and Lopez 2000, Chou and Hannaford 1996, ISO 6358; the numbers are assumed",
        assumed="All numbers of the muscles, of their valves and of their friction.",
    ),
    Bench(
        name="sea-table-1dof",
        summary="One joint with a series elastic actuator whose spring is a table, and a load.",
        options=TableOptions,
        law="sea_table",
        parameters=("table", "odd"),
        draw=_draw_sea,
        source=f"load, motor and controller: {_DOI}, section 4.1; the spring is assumed",
        assumed="The table of the spring: 40 N m/rad at rest, 230 N m/rad at 0.4 rad.",
    ),
)
"""The benches of the paper, one with a spring of the user's, and one with pneumatic muscles."""


def _threads(made: CompliantActuator) -> PreslidingFriction:
    """Return the friction of the threads of muscles, with that of the bearing."""
    from pliant.muscles import McKibben, muscle_friction

    law, bearing = made.law, made.link_friction
    assert isinstance(law, McKibben)  # the bench's own
    friction = muscle_friction(law)
    if bearing is None:
        return friction
    return dataclasses.replace(friction, torque=friction.torque + bearing.torque, stiffness=bearing.stiffness)


def build(bench: Bench, options: BenchOptions) -> Robot:
    """Return a bench: a stand, a link on the hinge ``joint``, a load.

    The axis is horizontal; a positive angle lifts the load from the horizontal pose. The link's centre of mass is on
    the axis and the load is a point, so the inertia about the axis is link_inertia + load_mass load_distance^2.
    """
    from pliant.model import Robot
    from pliant.model.inertia import set_inertia

    spec = new_spec(bench.name, options.timestep, extent=0.2, center=(0.01, 0.0, AXIS_HEIGHT - 0.02))
    stand = spec.worldbody.add_body(name="stand", pos=[0.0, 0.0, AXIS_HEIGHT])
    box(stand, (0.13, 0.11, 0.012), (0.0, 0.065, -AXIS_HEIGHT + 0.006), "stand")
    box(stand, (0.030, 0.030, AXIS_HEIGHT - 0.033), (0.0, 0.065, -0.5 * (AXIS_HEIGHT + 0.033) + 0.006), "stand")
    link = stand.add_body(name="link")
    link.add_joint(name="joint", axis=[0.0, -1.0, 0.0], damping=[options.damping, 0.0, 0.0])
    out = (1.0, 0.0) if options.mounting == "horizontal" else (0.0, -1.0)
    tip = (options.load_distance * out[0], 0.0, options.load_distance * out[1])
    inertia = max(options.link_inertia, MINIMAL_INERTIA)
    # A thin body in the plane of motion would do as well: only the axis' own component matters.
    set_inertia(link, max(options.load_mass, MINIMAL_INERTIA), inertia, tip)
    cylinder(link, (0.0, -0.007, 0.0), (0.0, 0.022, 0.0), 0.014, "metal")
    if options.load_distance > 0.0:
        capsule(link, (0.0, -0.002, 0.0), (tip[0], -0.002, tip[2]), 0.0065, "link")
    if options.load_mass > 0.0:
        # A brass disc of the load's mass, 16 mm thick.
        radius = min(0.06, math.sqrt(options.load_mass / (8500.0 * math.pi * 0.016)))
        cylinder(link, (tip[0], -0.010, tip[2]), (tip[0], 0.006, tip[2]), radius, "load")
        cylinder(link, (tip[0], -0.011, tip[2]), (tip[0], 0.007, tip[2]), 0.3 * radius, "trim")
    link.add_site(name="load", pos=list(tip), size=[0.003, 0.003, 0.003], rgba=[0.0, 0.0, 0.0, 0.0])
    camera = spec.worldbody.add_camera(name="front", pos=[0.16, -0.42, AXIS_HEIGHT + 0.10])
    look_at(camera, (0.16, -0.42, AXIS_HEIGHT + 0.10), (0.005, 0.03, AXIS_HEIGHT - 0.025))
    camera.fovy = 34.0
    bench.draw(stand)
    made = actuator(_law(bench, options), options, getattr(options, "preset", None))
    if isinstance(options, MuscleOptions) and options.hysteresis:
        made = made.replace(link_friction=_threads(made))
    actuators = {"joint": made}
    return finished(Robot(spec, actuators, interface=interface_of(bench.name.replace("-", "_"), actuators)))


ROBOTS = tuple(
    CatalogueRobot(
        name=bench.name,
        summary=bench.summary,
        options=bench.options,
        function=functools.partial(build, bench),
        scenarios=("push", "steps"),
        source=bench.source,
        assumed=(
            "The direction of gravity at q = 0, the inertia of the link and its damping: the paper prints none of "
            "them.",
            *filter(None, [bench.assumed]),
        ),
    )
    for bench in BENCHES
)
