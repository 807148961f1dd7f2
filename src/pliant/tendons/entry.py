"""The tendon-driven robots in the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pliant.robots.catalogue import CatalogueRobot

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.tendons.options import TendonOptions

_SOURCE = (
    "Continuum Robotics Laboratory, opencr-mujoco, commit 17fff8b (MIT): lengths, wire, tendon circle, servo stiffness"
    ", mass, pretension of v4; see pliant.tendons.robots"
)
_ASSUMED = (
    "Number of disks, distribution of mass, friction, breaking load, spools, damping; E = 50 GPa is the source's fit.",
)
_OPTIONS = "pliant.tendons.options:TendonOptions"


def _build(name: str) -> Callable[[TendonOptions], Robot]:
    def build(options: TendonOptions) -> Robot:
        from pliant.tendons.model import build_tendon_robot
        from pliant.tendons.robots import ROBOTS as DESCRIPTIONS

        return build_tendon_robot(DESCRIPTIONS[name](), options, hanging=name != "tdcr")

    return build


def _entry(name: str, summary: str, source: str = _SOURCE) -> CatalogueRobot:
    return CatalogueRobot(
        name=name, summary=summary, function=_build(name), source=source, options=_OPTIONS, assumed=_ASSUMED,
        scenarios=("pull-tendons",),
    )  # fmt: skip


def _on_arm(options: TendonOptions) -> Robot:
    from pliant.base.spatial import pose
    from pliant.robots.lookup import build_robot
    from pliant.tendons.model import HOUSING, mount_tendon_robot
    from pliant.tendons.robots import generic

    arm = build_robot("fr3", {"hand": "none"})
    arm.spec.modelname = "fr3-tdcr"
    flange = arm.spec.site("franka_flange")
    before = arm.spec.copy().compile().nq
    mount_tendon_robot(arm, flange.parent, pose([*flange.pos[:2], flange.pos[2] + HOUSING]), generic(), options)
    added = [0.0] * (arm.spec.copy().compile().nq - before)
    for key in arm.spec.keys:
        key.qpos = [*key.qpos, *added]
    return arm


ROBOTS = (
    _entry("tdcr", "Tendon-driven continuum robot: two segments of 100 mm, six tendons on servos."),
    _entry("tdcr-v4", "Measured tendon-driven robot v4: three segments, 186.5 mm, nine tendons, hanging."),
    _entry("tdcr-v6", "Measured tendon-driven robot v6: three segments, 222 mm, nine tendons, hanging."),
    CatalogueRobot(
        name="fr3-tdcr",
        summary="The robot tdcr on the flange of a Franka Research 3; serve the arm with --bridge fci.",
        function=_on_arm,
        source=f"tdcr: {_SOURCE}; the arm: see fr3",
        options=_OPTIONS,
        assumed=(*_ASSUMED, "Distance of the base plate from the flange; the arm's controller is not told the load."),
        scenarios=("pull-tendons",),
    ),
)
